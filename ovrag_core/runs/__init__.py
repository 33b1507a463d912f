"""Runs of an experiment: arms × documents × questions, resumable, with their files and ground truth."""
