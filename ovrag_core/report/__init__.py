"""Tables, figures and numbers for the thesis."""
