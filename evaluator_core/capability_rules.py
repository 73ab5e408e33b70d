# ruff: noqa: E501
"""What stands for a capability in each language: patterns for imports, for the heads of calls, and for texts."""

from __future__ import annotations

import re

Rules = dict[str, re.Pattern[str]]


def _rules(**patterns: str) -> Rules:
    return {name: re.compile(pattern) for name, pattern in patterns.items()}


SQL = re.compile(
    r"(?is)^\W*(?:\w{1,2}['\"]+)?\s*(?:select\s.+\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|drop\s+table\s"
    r"|create\s+table\s|alter\s+table\s)"
)

IMPORTS: dict[str, Rules] = {
    "python": _rules(
        network=r"\b(?:socket|requests|urllib|http|httpx|aiohttp|ftplib|smtplib|telnetlib|paramiko|websockets?|xmlrpc)\b",
        files=r"\b(?:shutil|tempfile|pathlib|glob|fileinput)\b",
        processes=r"\b(?:subprocess|multiprocessing|pty|pexpect|ctypes)\b",
        dynamic_import=r"\b(?:importlib|runpy|imp)\b",
        deserialization=r"\b(?:pickle|cPickle|marshal|shelve|dill|joblib)\b",
    ),
    "javascript": _rules(
        network=r"['\"](?:node:)?(?:https?|net|dgram|tls|axios|node-fetch|ws|request)['\"]",
        files=r"['\"](?:node:)?fs(?:/promises|-extra)?['\"]",
        processes=r"['\"](?:node:)?(?:child_process|cluster|worker_threads)['\"]",
        eval=r"['\"](?:node:)?vm['\"]",
        deserialization=r"['\"](?:node-serialize|serialize-javascript)['\"]",
    ),
    "go": _rules(
        network=r"\"net(?:/\w+)*\"", files=r"\"(?:os|io/ioutil|path/filepath)\"", processes=r"\"(?:os/exec|syscall)\"",
        dynamic_import=r"\"plugin\"", deserialization=r"\"encoding/gob\"",
    ),
    "rust": _rules(
        network=r"\b(?:std::net|reqwest|hyper|tokio::net)\b", files=r"\bstd::fs\b", processes=r"\bstd::process\b",
        dynamic_import=r"\blibloading\b", deserialization=r"\bbincode\b",
    ),
    "java": _rules(
        network=r"\bjava\.net\b|\bjavax\.net\b|okhttp|apache\.http", files=r"\bjava\.(?:nio\.file|io\.File)",
        eval=r"\bjavax\.script\b", dynamic_import=r"\bjava\.lang\.reflect\b", deserialization=r"\bObjectInputStream\b",
    ),
    "c": _rules(
        network=r"<(?:sys/socket|netinet/\w+|arpa/inet|netdb|curl/curl)\.h>", processes=r"<(?:sys/wait|spawn)\.h>",
        files=r"<(?:fcntl|dirent|sys/stat)\.h>", dynamic_import=r"<dlfcn\.h>",
    ),
    "csharp": _rules(
        network=r"\bSystem\.Net\b", files=r"\bSystem\.IO\b", processes=r"\bSystem\.Diagnostics\b",
        dynamic_import=r"\bSystem\.Reflection\b", deserialization=r"BinaryFormatter|Formatters\.Binary", eval=r"CodeAnalysis\.CSharp\.Scripting",
    ),
    "kotlin": _rules(
        network=r"\bjava\.net\b|okhttp|io\.ktor", files=r"\bjava\.(?:nio\.file|io\.File)", eval=r"javax\.script",
        deserialization=r"ObjectInputStream",
    ),
    "scala": _rules(
        network=r"\bjava\.net\b|sttp|akka\.http", files=r"\bjava\.(?:nio\.file|io\.File)|scala\.io\.Source",
        processes=r"\b(?:scala\.)?sys\.process\b", deserialization=r"ObjectInputStream",
    ),
    "swift": _rules(network=r"\bNetwork\b|FoundationNetworking"),
}  # fmt: skip
IMPORTS["typescript"] = IMPORTS["javascript"]
IMPORTS["cpp"] = IMPORTS["c"] | _rules(files=r"<(?:fstream|filesystem|fcntl\.h|dirent\.h)>")

_C_CALLS = _rules(
    network=r"^(?:::)?(?:socket|connect|bind|listen|accept|getaddrinfo|curl_easy_\w+)$",
    files=r"^(?:std::)?(?:fopen|freopen|open|creat|unlink|remove|rename|mkdir|rmdir|opendir)$",
    processes=r"^(?:std::)?(?:system|popen|fork|vfork|exec[lv]p?e?|posix_spawn)$",
    dynamic_import=r"^dlopen$",
)
_JVM_CALLS = _rules(
    network=r"\b(?:URL|Socket|ServerSocket|HttpClient|OkHttpClient|HttpURLConnection)\b",
    files=r"\b(?:FileReader|FileWriter|FileInputStream|FileOutputStream|RandomAccessFile|Files\.\w+|File)$|\bjava\.io\.File\b|\bSource\.fromFile\b",
    processes=r"\bRuntime\.getRuntime\b|\bProcessBuilder\b|^Process$",
    eval=r"\bScriptEngineManager\b|getEngineByName",
    dynamic_import=r"\bClass\.forName\b|\.loadClass$|\bURLClassLoader\b",
    deserialization=r"\bObjectInputStream\b|\.readObject$|\bXMLDecoder\b",
)

CALLS: dict[str, Rules] = {
    "*": {},
    "python": _rules(
        network=r"^(?:socket|requests|urllib\.\w+|httpx|aiohttp)\.\w+|^urlopen$",
        files=r"^(?:builtins\.|io\.|codecs\.)?open$|^os\.(?:open|remove|unlink|rename|replace|mkdir|makedirs|rmdir|listdir|walk|scandir|chmod)$"
        r"|^shutil\.\w+|\.(?:read_text|write_text|read_bytes|write_bytes|unlink)$",
        processes=r"^(?:os\.(?:system|popen|fork|kill|exec\w+|spawn\w+)|subprocess\.\w+|Popen)$",
        eval=r"^(?:builtins\.)?(?:eval|exec|compile)$",
        dynamic_import=r"^(?:__import__|importlib\.\w+|import_module|runpy\.\w+)$",
        deserialization=r"^(?:pickle|cPickle|marshal|dill|joblib|shelve)\.(?:load|loads|open|Unpickler)$|^yaml\.(?:load|unsafe_load|full_load)$",
    ),
    "javascript": _rules(
        network=r"^(?:window\.)?fetch$|^new (?:XMLHttpRequest|WebSocket)\b|^axios\b|^https?\.\w+|require\s*\(\s*['\"](?:node:)?(?:https?|net|dgram|axios|ws)$",
        files=r"^fs\.\w+|^fsp\.\w+|require\s*\(\s*['\"](?:node:)?fs(?:/promises)?$|^Deno\.(?:read|write|open)\w*$",
        processes=r"^(?:child_process\.)?(?:exec|execSync|spawn|spawnSync|fork|execFile)$|require\s*\(\s*['\"](?:node:)?child_process$",
        eval=r"^(?:eval|Function|new Function|vm\.\w+)\b",
        dynamic_import=r"^import$|^require\s*$",
        deserialization=r"^(?:\w+\.)?unserialize$|^v8\.deserialize$",
    ),
    "go": _rules(
        network=r"^(?:http|net)\.\w+", files=r"^(?:os\.(?:Open|OpenFile|Create|ReadFile|WriteFile|Remove|RemoveAll|Mkdir\w*|Rename)|ioutil\.\w+)$",
        processes=r"^(?:exec\.Command|syscall\.Exec|os\.StartProcess)", dynamic_import=r"^plugin\.Open$",
        deserialization=r"^gob\.NewDecoder$",
    ),
    "rust": _rules(
        network=r"\b(?:TcpStream|TcpListener|UdpSocket|reqwest)::", files=r"\b(?:File|fs|OpenOptions)::\w+",
        processes=r"\bCommand::new\b", dynamic_import=r"\bLibrary::new\b", deserialization=r"\bbincode::deserialize",
    ),
    "java": _JVM_CALLS, "kotlin": _JVM_CALLS, "scala": _JVM_CALLS | _rules(processes=r"\bProcess(?:Builder)?\b|\bRuntime\.getRuntime\b"),
    "c": _C_CALLS, "cpp": _C_CALLS,
    "csharp": _rules(
        network=r"\b(?:HttpClient|WebClient|TcpClient|Socket|WebRequest)\b", files=r"\b(?:File|Directory)\.\w+$|\bStream(?:Reader|Writer)\b|\bFileStream\b",
        processes=r"\bProcess\.Start\b|\bnew Process\b", eval=r"\bCSharpScript\.\w+", dynamic_import=r"\bAssembly\.Load\w*|\bActivator\.CreateInstance",
        deserialization=r"\bBinaryFormatter\b|\.Deserialize$",
    ),
    "php": _rules(
        network=r"^(?:curl_\w+|fsockopen|stream_socket_client)\b", processes=r"^(?:exec|shell_exec|system|passthru|popen|proc_open)\b",
        files=r"^(?:fopen|file_get_contents|file_put_contents|unlink|file|readfile|mkdir|rmdir|rename)\b", eval=r"^(?:eval|create_function|assert)\b",
        dynamic_import=r"^(?:include|require)(?:_once)?\s*\(?\s*\$", deserialization=r"^unserialize\b",
    ),
    "swift": _rules(
        network=r"\bURLSession\b|\bNWConnection\b", files=r"\bFileManager\b|\bFileHandle\b|contentsOfFile", processes=r"^Process$",
        deserialization=r"\bNSKeyedUnarchiver\b", dynamic_import=r"^dlopen$|NSClassFromString",
    ),
    "ruby": _rules(
        network=r"\b(?:Net::HTTP|TCPSocket|URI\.open|HTTParty|Faraday)\b|require ['\"](?:net/|socket|open-uri)", files=r"^(?:File|Dir|IO|FileUtils)\.\w+",
        processes=r"^(?:system|exec|spawn|fork|IO\.popen|Open3\.\w+)\b", eval=r"^(?:eval|instance_eval|class_eval|binding\.eval|Kernel\.eval)\b",
        dynamic_import=r"^(?:load|autoload|Object\.const_get)\b", deserialization=r"^(?:Marshal\.load|YAML\.(?:unsafe_)?load)\b",
    ),
    "bash": _rules(
        network=r"^(?:curl|wget|nc|ssh|scp|telnet|ftp)\b", files=r"^(?:rm|mv|cp|touch|mkdir|rmdir|chmod|chown|dd|tee)\b",
        processes=r"^(?:nohup|kill|xargs|sudo)\b", eval=r"^eval\b|^(?:ba)?sh -c\b", dynamic_import=r"^(?:source|\.)\s",
    ),
}  # fmt: skip
CALLS["typescript"] = CALLS["javascript"]
