"""An HTTP API over trained models, and the place of its page."""
