package bucket

import "net/http"

// StatusWriter remembers the status of an answer, for a log.
type StatusWriter struct {
	http.ResponseWriter
	Status int
}

// NewStatusWriter returns a writer whose status is 200 until another is set.
func NewStatusWriter(w http.ResponseWriter) *StatusWriter {
	return &StatusWriter{w, http.StatusOK}
}

// WriteHeader implements http.ResponseWriter.
func (w *StatusWriter) WriteHeader(status int) {
	w.Status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a proxy flush what it passes on.
func (w *StatusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
