package image

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/docker/distribution/registry/api/errcode"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"go.podman.io/image/v5/docker"
)

// classify turns an error of the transport into an Error. Errors that this
// package made itself, and those of a cancelled context, pass unchanged.
func classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause // an Error when the watch cut the request off
	}
	var done *Error
	if errors.As(err, &done) {
		return err
	}
	// A client that tries TLS first and was answered without it reports both.
	var answered *transport.Error
	if untrusted(err) && !errors.As(err, &answered) {
		return &Error{Kind: Untrusted, Reason: words(err), Err: err}
	}
	if strings.Contains(err.Error(), "exceeded maximum allowed size") {
		return &Error{Kind: LimitExceeded, Reason: "its manifest is too large: " + words(err), Advice: "push a smaller manifest", Err: err}
	}
	return &Error{Kind: statusKind(err), Reason: words(err), Err: err}
}

// untrusted recognises certificates that are not accepted, and plain HTTP
// where TLS was expected.
func untrusted(err error) bool {
	var verification *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verification) || errors.As(err, &unknown) || errors.As(err, &hostname) || errors.As(err, &invalid) ||
		errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// unparsedStatus matches how the transport reports an answer whose body is not
// an error document; the type behind it is not exported.
var unparsedStatus = regexp.MustCompile(`StatusCode: (\d{3})\b`)

// statusOf returns the HTTP status behind a transport error, 0 when unknown.
func statusOf(err error) int {
	var credentials docker.ErrUnauthorizedForCredentials
	var unexpected docker.UnexpectedHTTPStatusError
	var coded errcode.ErrorCoder
	var pushed *transport.Error
	switch {
	case errors.Is(err, docker.ErrTooManyRequests):
		return http.StatusTooManyRequests
	case errors.As(err, &credentials):
		return http.StatusUnauthorized
	case errors.As(err, &unexpected):
		return unexpected.StatusCode
	case errors.As(err, &pushed):
		return pushed.StatusCode
	case errors.As(err, &coded) && coded.ErrorCode() != errcode.ErrorCodeUnknown:
		return coded.ErrorCode().Descriptor().HTTPStatusCode
	}
	if m := unparsedStatus.FindStringSubmatch(err.Error()); m != nil {
		status, _ := strconv.Atoi(m[1])
		return status
	}
	return 0
}

// statusKind maps the HTTP status behind an error to a kind. Error documents with
// a code that the distribution API does not know carry no status; their words decide.
func statusKind(err error) Kind {
	switch statusOf(err) {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Unauthorized
	case http.StatusNotFound, http.StatusGone:
		return NotFound
	case http.StatusTooManyRequests:
		return RateLimited
	case 0:
		// Read the kind out of an error document without a known code
		var said errcode.Error
		if !errors.As(err, &said) {
			return Unavailable
		}
		switch text := strings.ToLower(said.Message); {
		case strings.Contains(text, "not found"), strings.Contains(text, "unknown"):
			return NotFound
		case strings.Contains(text, "denied"), strings.Contains(text, "unauthorized"), strings.Contains(text, "authenticat"):
			return Unauthorized
		case strings.Contains(text, "too many requests"), strings.Contains(text, "rate limit"):
			return RateLimited
		}
		return Unavailable
	}
	return Unavailable
}
