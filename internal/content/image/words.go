package image

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"fairlead.dev/fairlead/catalog/safetext"
	"github.com/docker/distribution/registry/api/errcode"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// maxWords bounds what is repeated of a registry's answer, in bytes.
const maxWords = 400

// flapping lists text that differs between two occurrences of the same
// trouble: it would make a status condition change on every attempt.
var flapping = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b(read|write|dial) (tcp|udp)([46]?) \S+->(\S+?)(:?)(\s|$)`), "$1 $2$3 $4$5$6"}, // own end of a connection
	{regexp.MustCompile(`(https?://[^\s"?]+)\?[^\s"]*`), "$1"},                                           // signed URLs
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "..."},
	{regexp.MustCompile(`(?i)\b(request|trace|correlation|host|ray|session|span)[ _-]?id\b["']?[:= ]+["']?[^\s"',;)]+`), "$1 id ..."},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`), "..."},
	{regexp.MustCompile(`\b\d{4}/\d\d/\d\d \d\d:\d\d:\d\d`), "..."},
	{regexp.MustCompile(`\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [A-Z]{3}`), "..."},
	{regexp.MustCompile(`(?i)\b(trace|span|request|reference)( |: ?)#?[0-9a-f.]{16,}`), "$1$2..."},
	{regexp.MustCompile(`\b1\d{9}(\d{3})?\b`), "..."}, // seconds or milliseconds since 1970
	{regexp.MustCompile(`(?i)\b(again|retry|retrying|resets?) (in|after) \d[\d.]*( ?([mµn]?s|m|h|(milli)?seconds?|minutes?|hours?))?\b`), "$1 $2 ..."},
	{regexp.MustCompile(`(?i)\bretry-after: ?[^\s,;]+`), "retry-after: ..."},
	{regexp.MustCompile(`\(heuristic tuning data: [^)]*\): `), ""},
	{regexp.MustCompile(`after reconnecting at offset \d+`), "after reconnecting"},
	{regexp.MustCompile(`Content-Range \d+-\d+/\d+`), "Content-Range"},
}

// steady returns s on one line, without control characters, without text that
// flaps, and not too long.
func steady(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 4*maxWords { // before the patterns: their cost is bounded too
		s = s[:4*maxWords]
	}
	for _, f := range flapping {
		s = f.pattern.ReplaceAllString(s, f.instead)
	}
	return safetext.Truncate(s, maxWords)
}

// words returns what the registry, or the network, said: the innermost text
// that carries it, without the layers of "while doing" around it.
func words(err error) string {
	var read errcode.Error
	var code errcode.ErrorCode
	var pushed *transport.Error
	var network *url.Error
	switch {
	case errors.As(err, &read):
		return registryWords(read.Code.String(), read.Message)
	case errors.As(err, &code): // with the usual message of that code
		return registryWords(code.String(), code.Message())
	case errors.As(err, &pushed) && len(pushed.Errors) > 0:
		return registryWords(string(pushed.Errors[0].Code), pushed.Errors[0].Message)
	case errors.As(err, &pushed):
		return steady(fmt.Sprintf("the registry answers %d %s", pushed.StatusCode, http.StatusText(pushed.StatusCode)))
	case errors.As(err, &network):
		// Format an error of a connection with the host it was made to: the rest of the URL is in the image's reference already.
		// A host with a name may have many addresses, of which each attempt takes one
		text := network.Err.Error()
		u, parseErr := url.Parse(network.URL)
		if parseErr != nil {
			return steady(text)
		}
		if net.ParseIP(u.Hostname()) == nil {
			text = peer.ReplaceAllString(text, "$1$2")
		}
		return steady(u.Host + ": " + text)
	}
	return steady(err.Error())
}

// registryWords formats an error document of the distribution API.
func registryWords(code, message string) string {
	if message == "" || message == code {
		return steady("the registry says " + code)
	}
	return steady("the registry says " + code + ": " + message)
}

// peer matches an address that a connection was made to.
var peer = regexp.MustCompile(`\b((?:dial|read|write) tcp[46]?) (?:\S+->)?[0-9a-fA-F.:\[\]]+:\d+(:)`)
