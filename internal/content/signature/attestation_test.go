package signature

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/content/image"
)

const provenance = "https://slsa.dev/provenance/v1"

// TestAttestations: who makes a claim about an image has not signed it, and the
// reverse.
func TestAttestations(t *testing.T) {
	t.Parallel()
	sig := newSigstore(t)
	who := keyless{sigstore: sig, subject: subject, issuer: issuer}
	beside := map[string]func(t *testing.T, digest string) image.Attachment{
		"provenance in a bundle": func(t *testing.T, d string) image.Attachment { return who.bundle(t, d, provenance) },
		"provenance under a tag": func(t *testing.T, d string) image.Attachment { return who.attestationTag(t, d, provenance) },
		"a scan in a bundle": func(t *testing.T, d string) image.Attachment {
			return who.bundle(t, d, "https://cosign.sigstore.dev/attestation/vuln/v1")
		},
		"no claim in a bundle": func(t *testing.T, d string) image.Attachment { return who.bundle(t, d, "") },
		"a signature":          func(t *testing.T, d string) image.Attachment { return who.bundle(t, d, predicateSignature) },
		"a signature tag":      func(t *testing.T, d string) image.Attachment { return who.tag(t, "x", d) },
		"other image's provenance": func(t *testing.T, d string) image.Attachment {
			sum := sha256.Sum256([]byte("other"))
			return who.bundle(t, ("sha256:" + hex.EncodeToString(sum[:])), provenance)
		},
	}
	accepted := map[string]map[string]bool{
		"":         {"a signature": true, "a signature tag": true},
		provenance: {"provenance in a bundle": true, "provenance under a tag": true},
	}
	for attestation, right := range accepted {
		for name, make := range beside {
			t.Run(attestation+" by "+name, func(t *testing.T) {
				t.Parallel()
				r := newRegistry(t)
				digest := r.push(t, repoPath+":v1", "content")
				r.attach(t, repoPath, digest, make(t, digest))
				dir := t.TempDir()
				write(t, dir, "root.json", string(sig.trustedRoot(t)))
				rule := fmt.Sprintf("version: 1\ndefault: reject\ntrustedRoot: root.json\nrules:\n- scope: %q\n  action: verify\n  signers: [{issuer: %q, subjectPattern: %q}]\n", r.host, issuer, "https://github.com/acme/.+")
				if attestation != "" {
					rule += "  attestation: " + attestation + "\n"
				}
				s := openStore(t, Config{Policy: write(t, dir, "policy.yaml", rule)}, "")
				_, v, err := pull(t, s, r.host+"/"+repoPath+":v1", image.PullOptions{})
				if (err == nil) != right[name] || err != nil && image.KindOf(err) != image.Unverified {
					t.Fatalf("%v, %v", v, err)
				}
				if err == nil && v.Signers[0].Predicate != attestation {
					t.Errorf("signer %+v", v.Signers[0])
				}
			})
		}
	}
}

// TestLogThreshold: a key that must be logged does not count without the log.
func TestLogThreshold(t *testing.T) {
	t.Parallel()
	s := newSigned(t)
	digest := s.push(t, "a/b:v1", "content")
	s.sign("a/b", digest)
	write(t, s.dir, "root.json", string(newSigstore(t).trustedRoot(t)))
	for _, field := range []string{"transparencyLog", "signedTimestamps"} {
		s.policy = write(t, s.dir, "policy.yaml", fmt.Sprintf("version: 1\ndefault: reject\ntrustedRoot: root.json\nrules:\n- {scope: %q, action: verify, signers: [{keys: [{file: key.pub}], %s: 1}]}\n", s.host, field))
		if _, err := s.store().Verify(context.Background(), s.host+"/a/b:v1", image.VerifyOptions{}); image.KindOf(err) != image.Unverified || !strings.Contains(err.Error(), s.key.ID) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
