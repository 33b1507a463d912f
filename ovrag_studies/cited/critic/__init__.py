"""The critic of policy prose: by rules, by learned weights, or by a chat model."""
