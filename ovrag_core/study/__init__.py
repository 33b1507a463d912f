"""The parts that studies share."""
