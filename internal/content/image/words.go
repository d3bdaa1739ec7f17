package image

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"github.com/docker/distribution/registry/api/errcode"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// maxWords bounds what is repeated of a registry's answer, in bytes.
const maxWords = 400

// steady returns s on one line, the same for the same answer, and not too long.
func steady(s string) string { return messages.Answer(s, maxWords) }

// words returns what the registry, or the network, said: the innermost text
// that carries it, without the layers of "while doing" around it.
func words(err error) string {
	var read errcode.Error
	var code errcode.ErrorCode
	var pushed *transport.Error
	var network *url.Error
	_, tunnel, refused := strings.Cut(err.Error(), refusal)
	switch {
	case refused: // neither the registry nor its host said anything
		return steady(tunnel)
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
