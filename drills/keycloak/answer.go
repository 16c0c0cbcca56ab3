package keycloak

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
)

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func answer(w http.ResponseWriter, code int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		code, raw = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw)
}

func notFound(w http.ResponseWriter, says string) {
	answer(w, http.StatusNotFound, map[string]any{"error": says})
}
