package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// containers is containers' policy.json as far as it is about registries. All
// requirements of a scope must be satisfied. What cannot be evaluated here, such
// as signatures by GPG, refuses the images of its scope.
type containers struct {
	file     string
	fallback []*requirement
	scopes   map[string][]*requirement // nil without transport docker; "" is its default
}

// requirements returns those of the closest scope: of the whole reference, else
// as scopes lists them, else of the transport, else the default.
func (c *containers) requirements(ref, repository string) []*requirement {
	for _, scope := range append(append([]string{ref}, scopes(repository)...), "") {
		if r, ok := c.scopes[scope]; ok {
			return r
		}
	}
	return c.fallback
}

// containersReader reads one policy.json, and the files that it names.
type containersReader struct {
	files  *files
	policy *containers
}

// parseContainers reads a policy.json with the keys that it names.
func parseContainers(file string, data []byte, others *files) (*containers, error) {
	if !json.Valid(data) {
		return nil, fmt.Errorf("%s is not JSON: %w", file, json.Unmarshal(data, new(any)))
	}
	document, err := parseDocument(file, data)
	if err != nil {
		return nil, err
	}
	r := &containersReader{files: others, policy: &containers{file: file, scopes: map[string][]*requirement{}}}
	err = document.fields(map[string]func(node) error{
		"default": func(n node) (err error) {
			r.policy.fallback, err = r.requirements(n, "default of "+file)
			return err
		},
		// Read the scopes of the transport to registries. Others are about archives and daemons, from which nothing is read here.
		"transports": func(n node) error {
			return n.each(func(name string, n node) error {
				if name != "docker" {
					return nil
				}
				return n.each(func(scope string, n node) (err error) {
					r.policy.scopes[scope], err = r.requirements(n, fmt.Sprintf("scope %q of %s", scope, file))
					return err
				})
			})
		},
	})
	if err != nil {
		return nil, err
	}
	if r.policy.fallback == nil {
		return nil, document.errorf("the field default is missing")
	}
	return r.policy, nil
}

func (r *containersReader) requirements(n node, rule string) ([]*requirement, error) {
	all := []*requirement{}
	err := n.items(func(n node) error {
		q, err := r.requirement(n, rule)
		all = append(all, q)
		return err
	})
	if err == nil && len(all) == 0 {
		return nil, n.errorf("the list of requirements is empty; write insecureAcceptAnything or reject")
	}
	return all, err
}

func (r *containersReader) requirement(n node, rule string) (*requirement, error) {
	var kind string
	err := n.each(func(name string, n node) error {
		if name == "type" {
			return text(&kind)(n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	none := func(node) error { return nil }
	switch kind {
	case "":
		return nil, n.errorf("the field type is missing")
	case "insecureAcceptAnything":
		return &requirement{rule: rule, action: actionAccept}, n.fields(map[string]func(node) error{"type": none})
	case "reject":
		return &requirement{rule: rule, action: actionReject}, n.fields(map[string]func(node) error{"type": none})
	case "sigstoreSigned":
		return r.sigstoreSigned(n, rule)
	}
	return &requirement{rule: rule, action: actionReject, reason: fmt.Sprintf(
		"it has a requirement of type %q, which cannot be evaluated here; requirements that can are insecureAcceptAnything, reject and sigstoreSigned", kind)}, nil
}

// sigstoreFields are the fields of a requirement sigstoreSigned as they are written.
type sigstoreFields struct {
	keys, rekor []fileOrData
	keySources  int
	fulcio, pki *certificateFields
	identity    identityMatch
}

// fileOrData is content, or the file that has it.
type fileOrData struct {
	file string
	data []byte
}

// certificateFields are the fields of the objects fulcio and pki.
type certificateFields struct {
	roots, intermediates    []fileOrData
	issuer, email, hostname string
}

func (r *containersReader) sigstoreSigned(n node, rule string) (*requirement, error) {
	f := sigstoreFields{identity: matchRepoDigestOrExact}
	source := func(read func(node) error) func(node) error {
		return func(n node) error {
			f.keySources++
			return read(n)
		}
	}
	err := n.fields(map[string]func(node) error{
		"type":                func(node) error { return nil },
		"keyPath":             source(one(&f.keys, asPath)),
		"keyPaths":            source(many(&f.keys, asPath)),
		"keyData":             source(one(&f.keys, asData)),
		"keyDatas":            source(many(&f.keys, asData)),
		"rekorPublicKeyPath":  one(&f.rekor, asPath),
		"rekorPublicKeyPaths": many(&f.rekor, asPath),
		"rekorPublicKeyData":  one(&f.rekor, asData),
		"rekorPublicKeyDatas": many(&f.rekor, asData),
		"signedIdentity":      func(n node) (err error) { f.identity, err = parseIdentity(n); return err },
		"fulcio": source(func(n node) error {
			f.fulcio = &certificateFields{}
			return n.fields(map[string]func(node) error{
				"caPath": one(&f.fulcio.roots, asPath), "caData": one(&f.fulcio.roots, asData),
				"oidcIssuer": text(&f.fulcio.issuer), "subjectEmail": text(&f.fulcio.email),
			})
		}),
		"pki": source(func(n node) error {
			f.pki = &certificateFields{}
			return n.fields(map[string]func(node) error{
				"caRootsPath": one(&f.pki.roots, asPath), "caRootsData": one(&f.pki.roots, asData),
				"caIntermediatesPath": one(&f.pki.intermediates, asPath), "caIntermediatesData": one(&f.pki.intermediates, asData),
				"subjectEmail": text(&f.pki.email), "subjectHostname": text(&f.pki.hostname),
			})
		}),
	})
	if err != nil {
		return nil, err
	}
	if f.keySources != 1 {
		return nil, n.errorf("exactly one of keyPath, keyPaths, keyData, keyDatas, fulcio and pki must be given, not %d", f.keySources)
	}
	q := &requirement{rule: rule, action: actionVerify, identity: f.identity}
	s, err := r.signer(n, f)
	if err != nil {
		return nil, err
	}
	q.anyOf = []*signer{s}
	return q, nil
}

func (r *containersReader) signer(n node, f sigstoreFields) (*signer, error) {
	switch {
	case f.fulcio != nil:
		if f.fulcio.issuer == "" || f.fulcio.email == "" {
			return nil, n.errorf("fulcio needs oidcIssuer and subjectEmail")
		}
		if len(f.rekor) == 0 {
			return nil, n.errorf("fulcio needs a rekorPublicKeyPath, rekorPublicKeyPaths, rekorPublicKeyData or rekorPublicKeyDatas")
		}
		roots, err := r.certificates(n, "caPath or caData", f.fulcio.roots)
		if err != nil {
			return nil, err
		}
		logs, err := r.logs(n, f.rekor)
		if err != nil {
			return nil, err
		}
		i := &identity{issuer: f.fulcio.issuer, subject: f.fulcio.email}
		if err := i.compile(); err != nil {
			return nil, n.errorf("%w", err)
		}
		a := &anchors{logs: logs}
		for _, certificate := range roots {
			a.authorities = append(a.authorities, &root.FulcioCertificateAuthority{Root: certificate})
		}
		return &signer{identity: i, trusted: a, logs: 1, integrated: true}, nil
	case f.pki != nil:
		if f.pki.email == "" && f.pki.hostname == "" {
			return nil, n.errorf("pki needs subjectEmail or subjectHostname")
		}
		if len(f.rekor) > 0 {
			return nil, n.errorf("pki and the public key of a log exclude each other")
		}
		roots, err := r.certificates(n, "caRootsPath or caRootsData", f.pki.roots)
		if err != nil {
			return nil, err
		}
		p := &pki{roots: roots, email: f.pki.email, hostname: f.pki.hostname}
		if len(f.pki.intermediates) > 0 {
			if p.intermediates, err = r.certificates(n, "caIntermediatesPath or caIntermediatesData", f.pki.intermediates); err != nil {
				return nil, err
			}
		}
		return &signer{pki: p}, nil
	}
	s := &signer{}
	for _, from := range f.keys {
		data, err := r.content(n, from)
		if err != nil {
			return nil, err
		}
		keys, err := parseKeys(data)
		if err != nil {
			return nil, n.errorf("a key %scannot be used: %w", from.named(), err)
		}
		s.keys = append(s.keys, keys...)
	}
	if len(f.rekor) == 0 {
		return s, nil
	}
	logs, err := r.logs(n, f.rekor)
	s.trusted, s.logs, s.integrated = &anchors{logs: logs}, 1, true
	return s, err
}

func (r *containersReader) certificates(n node, fields string, from []fileOrData) ([]*x509.Certificate, error) {
	if len(from) != 1 {
		return nil, n.errorf("exactly one of %s must be given", fields)
	}
	data, err := r.content(n, from[0])
	if err != nil {
		return nil, err
	}
	certificates, err := parseCertificates(data)
	if err != nil {
		return nil, n.errorf("%s: %w", fields, err)
	}
	return certificates, nil
}

// logs are the transparency logs with these public keys.
func (r *containersReader) logs(n node, from []fileOrData) (map[string]*root.TransparencyLog, error) {
	logs := map[string]*root.TransparencyLog{}
	for _, each := range from {
		data, err := r.content(n, each)
		if err != nil {
			return nil, err
		}
		key, err := cryptoutils.UnmarshalPEMToPublicKey(data)
		if err != nil {
			return nil, n.errorf("a public key of a log %scannot be used: %w", each.named(), err)
		}
		if _, ok := key.(*ecdsa.PublicKey); !ok {
			return nil, n.errorf("a public key of a log %sis no ECDSA key", each.named())
		}
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			return nil, n.errorf("a public key of a log %scannot be used: %w", each.named(), err)
		}
		id := sha256.Sum256(der)
		logs[hex.EncodeToString(id[:])] = &root.TransparencyLog{
			ID: id[:], HashFunc: crypto.SHA256, PublicKey: key, SignatureHashFunc: crypto.SHA256,
			ValidityPeriodStart: time.Unix(0, 0), // the file sets no bound, and the library wants one
		}
	}
	return logs, nil
}

func (r *containersReader) content(n node, from fileOrData) ([]byte, error) {
	if from.file == "" {
		return from.data, nil
	}
	data, err := r.files.read(from.file)
	if err != nil {
		return nil, n.errorf("%w", err)
	}
	return data, nil
}

// named is the file with a space after it, for messages.
func (f fileOrData) named() string {
	if f.file == "" {
		return ""
	}
	return "in " + f.file + " "
}

// Forms of a field: a path, or data in base64.
const (
	asPath = false
	asData = true
)

// one returns a reader of a field of that form, asPath or asData.
func one(to *[]fileOrData, isData bool) func(node) error {
	return func(n node) error {
		var from fileOrData
		err := text(&from.file)(n)
		if err == nil && isData {
			from.data, err = base64.StdEncoding.DecodeString(from.file)
			from.file = ""
			if err != nil {
				return n.errorf("it must be base64: %w", err)
			}
		}
		*to = append(*to, from)
		return err
	}
}

// many returns a reader of a list of that form that is not empty.
func many(to *[]fileOrData, form bool) func(node) error {
	return func(n node) error {
		err := n.items(one(to, form))
		if err == nil && len(n.Content) == 0 {
			return n.errorf("the list is empty")
		}
		return err
	}
}

// anchors are the authorities and logs that a policy.json names.
type anchors struct {
	root.BaseTrustedMaterial
	authorities []root.CertificateAuthority
	logs        map[string]*root.TransparencyLog
}

// FulcioCertificateAuthorities implements root.TrustedMaterial.
func (a *anchors) FulcioCertificateAuthorities() []root.CertificateAuthority { return a.authorities }

// RekorLogs implements root.TrustedMaterial.
func (a *anchors) RekorLogs() map[string]*root.TransparencyLog { return a.logs }
