package runbooks

import "handrail/steps/strict"

// Problem is one thing that is wrong in a runbook, and where.
type Problem = strict.Problem

// Problems are all that a reading found, in the order of the file.
type Problems = strict.Problems
