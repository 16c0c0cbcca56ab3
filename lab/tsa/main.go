// Command timestamp-server is sigstore's time stamping authority with a root that
// lasts as long as it runs. Its own command also serves metrics, on a port that
// cannot be chosen and on every address: a lab listens on loopback alone, and two
// of these must be able to run.
package main

import (
	"flag"
	"log"
	"time"

	"github.com/sigstore/timestamp-authority/v2/pkg/server"
	"github.com/spf13/viper"
)

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.Int("port", 0, "port to listen on")
	flag.Parse()
	for key, value := range map[string]any{
		"timestamp-signer":          "memory",
		"timestamp-signer-hash":     "sha256",
		"include-chain-in-response": true,
		"max-request-body-size":     1 << 20,
		"default-policy-oid":        policy,
		"accepted-policy-oids":      []string{policy},
	} {
		viper.Set(key, value)
	}
	s := server.NewRestAPIServer(*host, *port, []string{"http"}, false, time.Minute, time.Minute)
	if err := s.Serve(); err != nil {
		log.Fatal(err)
	}
}

// policy is the one that sigstore's own command takes when none is named.
const policy = "1.3.6.1.4.1.57264.2"
