"""What the pages share: navigation, the background runs, the result view, charts and controls."""
