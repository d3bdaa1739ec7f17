package signature

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	yaml "go.yaml.in/yaml/v3"
	"k8s.io/utils/ptr"
)

// policy is a policy file of our own schema:
//
//	version: 1
//	default: reject                # accept or reject: what no rule matches
//	trustedRoot: trusted_root.json # the CA certificates and logs of keyless signatures
//	rules:
//	- scope: quay.io/acme          # of the requested reference, before mirrors
//	  action: verify               # verify, accept or reject
//	  signers:                     # any one of them
//	  - keys: [{file: acme.pub}, {pem: "-----BEGIN PUBLIC KEY----- ..."}]
//	    transparencyLog: 0         # how many logs must have the signature
//	    signedTimestamps: 0        # how many timestamp authorities must have seen it
//	  - issuer: https://token.actions.githubusercontent.com  # or issuerPattern
//	    subjectPattern: https://github\.com/acme/.+          # or subject
//	    trustedRoot: other.json
//	    transparencyLog: 1
//	    signedTimestamps: 0
//	    certificateLog: 1
//	  attestation: https://slsa.dev/provenance/v1  # required instead of a signature
//	  covers: true                 # whether a signature covers what is named by digest
type policy struct {
	file     string
	fallback *requirement
	scopes   map[string]*requirement
}

// rule returns the requirement for a repository: of the closest scope, or the
// default.
func (p *policy) rule(repository string) *requirement {
	for _, scope := range scopes(repository) {
		if r := p.scopes[scope]; r != nil {
			return r
		}
	}
	return p.fallback
}

// policyReader reads one policy file, and the files that it names.
type policyReader struct {
	files   *files
	file    string
	trusted string // file of the trusted root that holds unless a signer names another
	policy  *policy
}

// parsePolicy reads a policy with the keys and trusted roots that it names.
func parsePolicy(file string, data []byte, others *files) (*policy, error) {
	document, err := parseDocument(file, data)
	if err != nil {
		return nil, err
	}
	r := &policyReader{files: others, file: file, policy: &policy{file: file, scopes: map[string]*requirement{}}}
	var version *int
	var rules node
	err = document.fields(map[string]func(node) error{
		"version": count(&version),
		"default": func(n node) error {
			var word string
			if err := text(&word)(n); err != nil {
				return err
			}
			if action(word) != actionAccept && action(word) != actionReject {
				return n.errorf("%q is not accept or reject", word)
			}
			r.policy.fallback = &requirement{rule: "default of " + file, action: action(word), byDefault: true}
			return nil
		},
		"trustedRoot": text(&r.trusted),
		"rules":       func(n node) error { rules = n; return nil },
	})
	switch {
	case err != nil:
		return nil, err
	case version == nil:
		return nil, document.errorf("the field version is missing; write version: 1")
	case *version != 1:
		return nil, document.errorf("version %d is not known; this is version 1", *version)
	case r.policy.fallback == nil:
		return nil, document.errorf("the field default is missing; write default: reject, or default: accept, for what no rule matches")
	}
	if rules.Node == nil {
		return r.policy, nil
	}
	return r.policy, rules.items(r.rule)
}

func (r *policyReader) rule(n node) error {
	var scope, word, attestation string
	var covers *bool
	var signers []*signer
	err := n.fields(map[string]func(node) error{
		"scope":       text(&scope),
		"action":      text(&word),
		"attestation": text(&attestation),
		"covers": func(n node) error {
			var b bool
			if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&b) != nil {
				return n.errorf("it must be true or false")
			}
			covers = &b
			return nil
		},
		"signers": func(n node) error {
			return n.items(func(n node) error {
				s, err := r.signer(n)
				signers = append(signers, s)
				return err
			})
		},
	})
	if err != nil {
		return err
	}
	if err := checkScope(scope); err != nil {
		return n.errorf("scope: %w", err)
	}
	if r.policy.scopes[scope] != nil {
		return n.errorf("scope %q has a rule already; write one rule with all its signers", scope)
	}
	q := &requirement{rule: fmt.Sprintf("rule %q of %s", scope, r.file), action: action(word), anyOf: signers, attestation: attestation}
	switch q.action {
	case actionVerify:
		if len(signers) == 0 {
			return n.errorf("action verify needs signers")
		}
		q.covers = ptr.Deref(covers, true)
	case actionAccept, actionReject:
		if len(signers) > 0 || attestation != "" || covers != nil {
			return n.errorf("signers, attestation and covers belong to action verify, not to %s", word)
		}
	default:
		return n.errorf("action %q is not verify, accept or reject", word)
	}
	r.policy.scopes[scope] = q
	return nil
}

// signerFields are the fields of a signer as they are written.
type signerFields struct {
	keys                             []*publicKey
	identity                         identity
	trustedRoot                      string
	logs, timestamps, certificateLog *int
}

func (r *policyReader) signer(n node) (*signer, error) {
	var f signerFields
	err := n.fields(map[string]func(node) error{
		"keys": func(n node) error {
			return n.items(func(n node) error {
				to := &f.keys
				var file, pem string
				if err := n.fields(map[string]func(node) error{"file": text(&file), "pem": text(&pem)}); err != nil {
					return err
				}
				data := []byte(pem)
				switch {
				case (file == "") == (pem == ""):
					return n.errorf("a key has either file or pem")
				case file != "":
					var err error
					if data, err = r.files.read(r.beside(file)); err != nil {
						return n.errorf("%w", err)
					}
				}
				keys, err := parseKeys(data)
				if err != nil {
					return n.errorf("the key cannot be used: %w", err)
				}
				*to = append(*to, keys...)
				return nil
			})
		},
		"issuer":           text(&f.identity.issuer),
		"issuerPattern":    text(&f.identity.issuerPattern),
		"subject":          text(&f.identity.subject),
		"subjectPattern":   text(&f.identity.subjectPattern),
		"trustedRoot":      text(&f.trustedRoot),
		"transparencyLog":  count(&f.logs),
		"signedTimestamps": count(&f.timestamps),
		"certificateLog":   count(&f.certificateLog),
	})
	if err != nil {
		return nil, err
	}
	if f.identity.issuer+f.identity.issuerPattern+f.identity.subject+f.identity.subjectPattern != "" {
		return r.keyless(n, f)
	}
	return r.keyed(n, f)
}

func (r *policyReader) keyed(n node, f signerFields) (*signer, error) {
	if len(f.keys) == 0 {
		return nil, n.errorf("the signer has neither keys nor issuer and subject")
	}
	if f.certificateLog != nil {
		return nil, n.errorf("certificateLog belongs to a keyless signer: a key has no certificate")
	}
	s := &signer{keys: f.keys, logs: ptr.Deref(f.logs, 0), timestamps: ptr.Deref(f.timestamps, 0)}
	if s.logs == 0 && s.timestamps == 0 {
		return s, nil
	}
	trusted, err := r.root(n, f)
	if err != nil {
		return nil, err
	}
	s.trusted = trusted
	return s, s.checkRoot(n, trusted)
}

func (r *policyReader) keyless(n node, f signerFields) (*signer, error) {
	if len(f.keys) > 0 {
		return nil, n.errorf("the signer has both keys and an identity; write two signers")
	}
	if err := f.identity.compile(); err != nil {
		return nil, n.errorf("%w", err)
	}
	trusted, err := r.root(n, f)
	if err != nil {
		return nil, err
	}
	s := &signer{identity: &f.identity, trusted: trusted, logs: ptr.Deref(f.logs, 1), timestamps: ptr.Deref(f.timestamps, 0)}
	s.certificateLogs = ptr.Deref(f.certificateLog, min(1, len(trusted.CTLogs())))
	switch {
	case s.logs == 0 && s.timestamps == 0:
		return nil, n.errorf("with transparencyLog: 0 and without signedTimestamps nothing proves when the signature was made, and certificates of keyless signers hold for minutes; require one of the two")
	case len(trusted.FulcioCertificateAuthorities()) == 0:
		return nil, n.errorf("its trusted root has no certificate authority, so that no certificate can satisfy it")
	case len(trusted.CTLogs()) < s.certificateLogs:
		return nil, n.errorf("certificateLog is %d, but its trusted root has %d logs of certificates", s.certificateLogs, len(trusted.CTLogs()))
	}
	return s, s.checkRoot(n, trusted)
}

// checkRoot refuses thresholds that no signature can meet.
func (s *signer) checkRoot(n node, trusted *root.TrustedRoot) error {
	if has := len(trusted.RekorLogs()); has < s.logs {
		return n.errorf("transparencyLog is %d, but its trusted root has %d transparency logs", s.logs, has)
	}
	if has := len(trusted.TimestampingAuthorities()); has < s.timestamps {
		return n.errorf("signedTimestamps is %d, but its trusted root has %d timestamp authorities", s.timestamps, has)
	}
	return nil
}

func (r *policyReader) root(n node, f signerFields) (*root.TrustedRoot, error) {
	file := cmp.Or(f.trustedRoot, r.trusted)
	if file == "" {
		return nil, n.errorf("the signer needs a trusted root; name its file in the field trustedRoot of the policy or of the signer")
	}
	data, err := r.files.read(r.beside(file))
	if err != nil {
		return nil, n.errorf("trustedRoot: %w", err)
	}
	trusted, err := root.NewTrustedRootFromJSON(data)
	if err != nil {
		return nil, n.errorf("trustedRoot %s is no trusted root in JSON: %w", file, steadyProto(err))
	}
	return trusted, nil
}

// beside finds a file that a policy names: relative to the policy itself.
func (r *policyReader) beside(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(r.file), file)
}

// compile makes the matcher. A pattern must match the whole of an issuer or a
// subject.
func (i *identity) compile() error {
	if (i.issuer == "") == (i.issuerPattern == "") {
		return fmt.Errorf("a keyless signer has either issuer or issuerPattern")
	}
	if (i.subject == "") == (i.subjectPattern == "") {
		return fmt.Errorf("a keyless signer has either subject or subjectPattern")
	}
	issuers, err := whole("issuerPattern", i.issuerPattern)
	if err != nil {
		return err
	}
	subjects, err := whole("subjectPattern", i.subjectPattern)
	if err != nil {
		return err
	}
	i.matcher, err = verify.NewShortCertificateIdentity(i.issuer, issuers, i.subject, subjects)
	return err
}

func whole(field, pattern string) (string, error) {
	if pattern == "" {
		return "", nil
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return "", fmt.Errorf("%s is no regular expression: %w", field, err)
	}
	anchored := `^(?:` + pattern + `)$`
	re, err := regexp.Compile(anchored)
	if err != nil {
		return "", fmt.Errorf("%s is no regular expression: %w", field, err)
	}
	if re.MatchString("") {
		return "", fmt.Errorf("%s %q also matches nothing at all; to trust everyone, write .+", field, pattern)
	}
	return anchored, nil
}
