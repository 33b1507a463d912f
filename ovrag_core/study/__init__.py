"""Parts that studies share: settings, commands, scores, and the book of tables and figures."""
