"""Two characters who speak in turn, and the page that shows them."""
