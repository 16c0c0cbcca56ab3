package rabbitmq

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// defaultVhost is the one of an URI that names none.
const defaultVhost = "/"

// longestName is what AMQP allows a name, in bytes.
const longestName = 255

// vhostOf returns the virtual host that a program asks for, which is given by its
// name or as an AMQP URI, and the password that the URI holds. By the
// specification of these URIs amqp://host means the default one, amqp://host/ the
// one with the empty name, and a slash of a name is written %2F.
func vhostOf(text string) (vhost, password string, err error) {
	scheme, rest, isURI := strings.Cut(text, "://")
	if !isURI || (!strings.EqualFold(scheme, "amqp") && !strings.EqualFold(scheme, "amqps")) {
		return text, "", checkVhost(text)
	}
	rest, _, _ = strings.Cut(rest, "?")
	authority, path, named := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		_, secret, _ := strings.Cut(authority[:at], ":")
		if password, err = url.PathUnescape(secret); err != nil {
			password = secret
		}
	}
	switch {
	case !named:
		return defaultVhost, password, nil
	case strings.ContainsAny(path, "/#"):
		return "", password, fmt.Errorf("the path of the AMQP URI has a slash or a fragment: write a slash of the name as %%2F")
	}
	vhost, err = url.PathUnescape(path)
	if err != nil {
		return "", password, fmt.Errorf("the virtual host of the AMQP URI is not percent-encoded as it should be")
	}
	return vhost, password, checkVhost(vhost)
}

func checkVhost(name string) error {
	switch {
	case len(name) > longestName:
		return fmt.Errorf("the name of the virtual host has %d bytes, and AMQP allows %d", len(name), longestName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return fmt.Errorf("the name of the virtual host %q has characters that cannot be shown", name)
	}
	return nil
}

// segment is a name as one segment of a path; ok is false where a proxy could
// take it for another path.
func segment(name string) (text string, ok bool) {
	return url.PathEscape(name), name != "" && name != "." && name != ".."
}
