package registration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"time"
)

// answerTime is how long a process may take to say whether it serves.
const answerTime = time.Second

// prober asks processes whether they serve.
type prober struct{ host string }

// probe asks as the API server does, under the name of the Service, and believes the same authorities.
func (p prober) probe(ctx context.Context, address string, trusted []byte) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: p.host, MinVersion: tls.VersionTLS12}}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask %q whether packages are served there: %w", address, err)
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fmt.Errorf("ask whether packages are served: %w", err)
	}
	_ = answer.Body.Close() // only the status counts
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("ask whether packages are served at %s: the answer is %s", address, answer.Status)
	}
	return nil
}
