package process

// Check is one thing that doctor looked at.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, missing or bad
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"`
}
