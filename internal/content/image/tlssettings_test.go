package image

import (
	"crypto/tls"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestTLSSettings: what TLS the process may speak holds for pulls, and for pushes and the reading of signatures, which have another client.
func TestTLSSettings(t *testing.T) {
	t.Parallel()
	r, ca := newTLSRegistry(t)
	cfg := Config{CertsDir: t.TempDir(), TLS: func() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12} }}
	writeFile(t, filepath.Join(cfg.CertsDir, r.host, "ca.crt"), ca)
	var newer, asked atomic.Int32
	r.fault(func(w http.ResponseWriter, q *http.Request, next http.Handler) {
		asked.Add(1)
		if q.TLS.Version != tls.VersionTLS12 {
			newer.Add(1)
		}
		next.ServeHTTP(w, q)
	})
	r.fill(t, cfg, "test/image:v1", "content")
	if newer.Load() > 0 || asked.Load() == 0 {
		t.Errorf("%d of %d requests of a push speak TLS that is not allowed", newer.Load(), asked.Load())
	}
	pullFiles(t, openStore(t, cfg), r.host+"/test/image:v1", PullOptions{})
	if newer.Load() > 0 {
		t.Errorf("%d of %d requests speak TLS that is not allowed", newer.Load(), asked.Load())
	}
}
