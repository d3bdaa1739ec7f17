package signature

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protodsse "github.com/sigstore/protobuf-specs/gen/pb-go/dsse"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"
	"google.golang.org/protobuf/encoding/protojson"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

const (
	issuer   = "https://issuer.example"
	subject  = "https://github.com/acme/catalog/.github/workflows/release.yaml@refs/heads/main"
	repoPath = "acme/catalog"
)

// registry is a registry on loopback that a test can lead astray.
type registry struct {
	*httptest.Server
	host string

	mu       sync.Mutex
	fallback bool // no Referrers API
	requests []string
	answer   func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

func newRegistry(t testing.TB) *registry {
	t.Helper()
	r := &registry{}
	inner := image.NewRegistry("")
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.requests = append(r.requests, req.Method+" "+req.URL.Path)
		answer, fallback := r.answer, r.fallback
		r.mu.Unlock()
		switch {
		case fallback && strings.Contains(req.URL.Path, "/referrers/"):
			http.NotFound(w, req)
		case answer != nil:
			answer(w, req, inner)
		default:
			inner.ServeHTTP(w, req)
		}
	}))
	r.host = strings.TrimPrefix(r.URL, "http://")
	t.Cleanup(r.Close)
	return r
}

func (r *registry) fault(answer func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *registry) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.requests
	r.requests = nil
	return seen
}

// push pushes an image with one file, and returns its digest.
func (r *registry) push(t testing.TB, ref, content string) string {
	t.Helper()
	files := must.Value(image.Files(map[string][]byte{"file": []byte(content)}))(t)
	digest := must.Value(image.Push(context.Background(), r.host+"/"+ref, files, nil, image.PushOptions{}))(t)
	return digest
}

func (r *registry) attach(t testing.TB, repository, digest string, a image.Attachment) {
	t.Helper()
	must.NoError(t, image.Attach(context.Background(), r.host+"/"+repository+"@"+digest, a, image.PushOptions{}))
}

// newTestKey makes a key, and the PEM of its public half.
func newTestKey(t testing.TB) (*Key, string) {
	t.Helper()
	private := must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	key := must.Value(newKey(private))(t)
	return key, publicPEM(t, private.Public())
}

func publicPEM(t testing.TB, key crypto.PublicKey) string {
	t.Helper()
	der := must.Value(x509.MarshalPKIXPublicKey(key))(t)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// sigstore has a certificate authority, a transparency log and a timestamp
// authority of its own.
type sigstore struct{ *ca.VirtualSigstore }

func newSigstore(t testing.TB) sigstore {
	t.Helper()
	virtual := must.Value(ca.NewVirtualSigstore())(t)
	return sigstore{virtual}
}

// trustedRoot is the trusted root to mount; without the logs of certificates,
// which the authority does not write to.
func (s sigstore) trustedRoot(t testing.TB) []byte {
	t.Helper()
	logs := map[string]*root.TransparencyLog{}
	for id, l := range s.RekorLogs() {
		raw := must.Value(hex.DecodeString(id))(t)
		l.ID = raw
		logs[id] = l
	}
	trusted := must.Value(root.NewTrustedRoot(root.TrustedRootMediaType01, s.FulcioCertificateAuthorities(), nil, s.TimestampingAuthorities(), logs))(t)
	data := must.Value(trusted.MarshalJSON())(t)
	return data
}

// keyless is how a test signs without a key.
type keyless struct {
	sigstore        sigstore
	subject, issuer string
	at              time.Time // of the log; zero is while the certificate holds
}

func (k keyless) time() time.Time {
	if k.at.IsZero() {
		return time.Now().Add(5 * time.Minute)
	}
	return k.at
}

// tag is a keyless signature under a signature tag.
func (k keyless) tag(t testing.TB, repository, digest string) image.Attachment {
	t.Helper()
	data := must.Value(newPayload(repository, digest))(t)
	e := must.Value(k.sigstore.SignAtTime(k.subject, k.issuer, data, k.time()))(t)
	content, _ := e.SignatureContent()
	a := image.Attachment{Tag: tagOf(digest) + ".sig", MediaType: mediaSimpleSigning, Data: data, Annotations: k.annotations(t, e)}
	a.Annotations[annotationSignature] = base64.StdEncoding.EncodeToString(content.Signature())
	return a
}

func (k keyless) annotations(t testing.TB, e *ca.TestEntity) map[string]string {
	t.Helper()
	content, _ := e.VerificationContent()
	entries, _ := e.TlogEntries()
	stamps, _ := e.Timestamps()
	entry := entries[0].TransparencyLogEntry()
	log := must.Value(json.Marshal(map[string]any{
		"SignedEntryTimestamp": k.promise(t, entry),
		"Payload":              map[string]any{"body": entry.CanonicalizedBody, "integratedTime": entry.IntegratedTime, "logIndex": entry.LogIndex, "logID": hex.EncodeToString(entry.LogId.KeyId)},
	}))(t)
	stamp := must.Value(json.Marshal(map[string]any{"SignedRFC3161Timestamp": stamps[0]}))(t)
	return map[string]string{
		annotationCertificate: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content.Certificate().Raw})),
		annotationLog:         string(log), annotationTimestamp: string(stamp),
	}
}

// promise is the signature of the log on an entry.
func (k keyless) promise(t testing.TB, entry *protorekor.TransparencyLogEntry) []byte {
	t.Helper()
	set := must.Value(k.sigstore.RekorSignPayload(tlog.RekorPayload{
		Body: base64.StdEncoding.EncodeToString(entry.CanonicalizedBody), IntegratedTime: entry.IntegratedTime,
		LogIndex: entry.LogIndex, LogID: hex.EncodeToString(entry.LogId.KeyId),
	}))(t)
	return set
}

// bundle is a keyless sigstore bundle of a statement.
func (k keyless) bundle(t testing.TB, digest, predicate string) image.Attachment {
	t.Helper()
	statement := must.Value(newStatement(digest, predicate, map[string]any{}))(t)
	e := must.Value(k.sigstore.AttestAtTime(k.subject, k.issuer, statement, k.time(), true))(t)
	content, _ := e.SignatureContent()
	envelope := content.EnvelopeContent().RawEnvelope()
	who, _ := e.VerificationContent()
	entries, _ := e.TlogEntries()
	stamps, _ := e.Timestamps()
	entry := entries[0].TransparencyLogEntry()
	entry.KindVersion = &protorekor.KindVersion{Kind: "dsse", Version: "0.0.1"}
	entry.InclusionPromise = &protorekor.InclusionPromise{SignedEntryTimestamp: k.promise(t, entry)}
	payload, _ := envelope.DecodeB64Payload()
	data := must.Value(protojson.Marshal(&protobundle.Bundle{
		MediaType: mediaBundle,
		VerificationMaterial: &protobundle.VerificationMaterial{
			Content:                   &protobundle.VerificationMaterial_Certificate{Certificate: &protocommon.X509Certificate{RawBytes: who.Certificate().Raw}},
			TlogEntries:               []*protorekor.TransparencyLogEntry{entry},
			TimestampVerificationData: &protobundle.TimestampVerificationData{Rfc3161Timestamps: []*protocommon.RFC3161SignedTimestamp{{SignedTimestamp: stamps[0]}}},
		},
		Content: &protobundle.Bundle_DsseEnvelope{DsseEnvelope: &protodsse.Envelope{
			Payload: payload, PayloadType: envelope.PayloadType, Signatures: []*protodsse.Signature{{Sig: content.Signature()}},
		}},
	}))(t)
	return image.Attachment{MediaType: mediaBundle, Data: data, Annotations: map[string]string{annotationPredicate: predicate}}
}

// attestationTag is a keyless attestation under an attestation tag.
func (k keyless) attestationTag(t testing.TB, digest, predicate string) image.Attachment {
	t.Helper()
	statement := must.Value(newStatement(digest, predicate, map[string]any{}))(t)
	e := must.Value(k.sigstore.AttestAtTime(k.subject, k.issuer, statement, k.time(), false))(t)
	content, _ := e.SignatureContent()
	data := must.Value(json.Marshal(content.EnvelopeContent().RawEnvelope()))(t)
	return image.Attachment{Tag: tagOf(digest) + ".att", MediaType: mediaEnvelope, Data: data, Annotations: k.annotations(t, e)}
}

// write writes a file into a directory of the test and returns its path.
func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// openStore opens an empty store that asks a Verifier.
func openStore(t testing.TB, c Config, registriesConf string) *image.Store {
	t.Helper()
	s := must.Value(image.Open(t.TempDir(), image.Config{Verifier: New(c), RegistriesConf: registriesConf}))(t)
	return s
}

// pull returns the content of the image's file.
func pull(t testing.TB, s *image.Store, ref string, o image.PullOptions) (string, *image.Verification, error) {
	t.Helper()
	img, err := s.Pull(context.Background(), ref, o)
	if err != nil {
		return "", nil, err
	}
	defer img.Close()
	file := must.Value(img.FS().Open("file"))(t)
	defer file.Close()
	data := make([]byte, 100)
	n, _ := file.Read(data)
	return string(data[:n]), img.Verification, nil
}

// mirrored is a registries.conf with a mirror of a registry.
func mirrored(t testing.TB, source, mirror string) string {
	t.Helper()
	return write(t, t.TempDir(), "registries.conf", fmt.Sprintf("[[registry]]\nlocation = %q\n[[registry.mirror]]\nlocation = %q\n", source, mirror))
}
