package signature

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// The matrix: each layout of signatures, signed by a key and without, in each
// situation. What is right is pulled; nothing else is.

// layouts are how a signature is stored.
var layouts = map[string]struct{ bundle, fallback bool }{
	"v2 tag":           {},
	"v3 referrers API": {bundle: true},
	"v3 fallback tag":  {bundle: true, fallback: true},
}

// cell is one combination of layout and kind of signer.
type cell struct {
	t        *testing.T
	bundle   bool
	fallback bool
	keyless  bool

	dir        string // of the policy
	policy     string // file
	key, other *Key
	good       keyless
}

func (c *cell) registry() *registry {
	r := newRegistry(c.t)
	r.fallback = c.fallback
	return r
}

// require writes the policy for a scope.
func (c *cell) require(scope string) {
	signer := "{keys: [{file: key.pub}]}"
	if c.keyless {
		signer = fmt.Sprintf("{issuer: %q, subject: %q, signedTimestamps: 1}", issuer, subject)
	}
	c.policy = write(c.t, c.dir, "policy.yaml", fmt.Sprintf(
		"version: 1\ndefault: reject\ntrustedRoot: trusted_root.json\nrules:\n- scope: %q\n  action: verify\n  signers: [%s]\n", scope, signer))
}

// signAs signs a digest, and stores the signature beside another.
func (c *cell) signAs(r *registry, beside, digest string, key *Key, without keyless) {
	a := c.attachment(r, digest, key, without)
	if a.Tag != "" {
		a.Tag = tagOf(beside) + ".sig"
	}
	r.attach(c.t, repoPath, beside, a)
}

func (c *cell) attachment(r *registry, digest string, key *Key, without keyless) (a image.Attachment) {
	var err error
	switch {
	case c.keyless && c.bundle:
		return without.bundle(c.t, digest, predicateSignature)
	case c.keyless:
		return without.tag(c.t, r.host+"/"+repoPath, digest)
	case c.bundle:
		a, err = signatureBundle(digest, key)
	default:
		a, err = signatureTag(r.host+"/"+repoPath, digest, key)
	}
	must.NoError(c.t, err)
	return a
}

func (c *cell) sign(r *registry, digest string) { c.signAs(r, digest, digest, c.key, c.good) }

func (c *cell) store(registriesConf string) *image.Store {
	return openStore(c.t, Config{Policy: c.policy}, registriesConf)
}

// refused wants an image not to be pulled, and the words of the reason.
func (c *cell) refused(s *image.Store, ref string, words ...string) {
	c.t.Helper()
	content, _, err := pull(c.t, s, ref, image.PullOptions{})
	if err == nil {
		c.t.Fatalf("it was pulled: %q", content)
	}
	must.Equal(c.t, "error of kind", image.KindOf(err), image.Unverified)
	for _, w := range words {
		must.Contain(c.t, "the error does not say", err.Error(), w)
	}
}

// pulled wants an image to be pulled with its content, signed.
func (c *cell) pulled(s *image.Store, ref, content string) {
	c.t.Helper()
	got, v, err := pull(c.t, s, ref, image.PullOptions{})
	if err != nil || got != content {
		c.t.Fatalf("content %q, error %v", got, err)
	}
	if v == nil || v.Outcome != image.Signed || len(v.Signers) != 1 {
		c.t.Fatalf("verification %+v", v)
	}
	if s := v.Signers[0]; c.keyless && (s.Subject != subject || s.Issuer != issuer || s.Time.IsZero()) || !c.keyless && s.Key != c.key.ID {
		c.t.Errorf("signer %+v", s)
	}
}

// situations are the columns of the matrix.
var situations = map[string]func(c *cell){
	"right": func(c *cell) {
		r := c.registry()
		d := r.push(c.t, repoPath+":v1", "good")
		c.sign(r, d)
		c.require(r.host + "/acme")
		c.pulled(c.store(""), r.host+"/"+repoPath+":v1", "good")
		c.pulled(c.store(""), r.host+"/"+repoPath+"@"+d, "good")
	},
	"right beside wrong": func(c *cell) {
		r := c.registry()
		d := r.push(c.t, repoPath+":v1", "good")
		c.signAs(r, d, d, c.other, keyless{sigstore: newSigstore(c.t), subject: subject, issuer: issuer})
		c.sign(r, d)
		c.require(r.host + "/acme")
		c.pulled(c.store(""), r.host+"/"+repoPath+":v1", "good")
	},
	"wrong identity": func(c *cell) {
		wrong := map[string]keyless{
			"subject":   {sigstore: c.good.sigstore, subject: subject + ".evil.example", issuer: issuer},
			"issuer":    {sigstore: c.good.sigstore, subject: subject, issuer: "https://evil.example"},
			"authority": {sigstore: newSigstore(c.t), subject: subject, issuer: issuer},
		}
		for _, w := range wrong {
			r := c.registry()
			d := r.push(c.t, repoPath+":v1", "good")
			c.signAs(r, d, d, c.other, w)
			c.require(r.host + "/acme")
			c.refused(c.store(""), r.host+"/"+repoPath+":v1", d, `rule "`+r.host+`/acme" of `+c.policy)
		}
	},
	"other digest": func(c *cell) {
		r := c.registry()
		good, evil := r.push(c.t, repoPath+":good", "good"), r.push(c.t, repoPath+":v1", "evil")
		c.signAs(r, evil, good, c.key, c.good)
		c.require(r.host + "/acme")
		c.refused(c.store(""), r.host+"/"+repoPath+":v1", evil)
	},
	"tag swapped between requests": func(c *cell) {
		for _, first := range []string{"good", "evil"} {
			r := c.registry()
			digests := map[string]string{"good": r.push(c.t, repoPath+":good", "good"), "evil": r.push(c.t, repoPath+":evil", "evil")}
			c.sign(r, digests["good"])
			c.require(r.host + "/acme")
			second := map[string]string{"good": "evil", "evil": "good"}[first]
			var asked atomic.Int32
			r.fault(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if path, ok := strings.CutSuffix(req.URL.Path, "/manifests/v1"); ok {
					to := first
					if asked.Add(1) > 1 {
						to = second
					}
					req.URL.Path = path + "/manifests/" + to
				}
				next.ServeHTTP(w, req)
			})
			if s := c.store(""); first == "good" {
				c.pulled(s, r.host+"/"+repoPath+":v1", "good")
			} else {
				c.refused(s, r.host+"/"+repoPath+":v1", digests["evil"])
			}
			must.Equal(c.t, "the tag was resolved times", asked.Load(), 1)
		}
	},
	"mirror": func(c *cell) {
		source, mirror := c.registry(), c.registry()
		d := mirror.push(c.t, repoPath+":v1", "good")
		conf := mirrored(c.t, source.host, mirror.host)
		ref := source.host + "/" + repoPath + ":v1"
		// A rule for the mirror is not one for what is requested.
		c.require(mirror.host + "/acme")
		c.refused(c.store(conf), ref, "no rule is for its repository")
		c.require(source.host + "/acme")
		c.refused(c.store(conf), ref, "there is no signature")
		// The signature may be at the source, where the mirror lacks it.
		source.push(c.t, repoPath+":v1", "good")
		c.sign(source, d)
		c.pulled(c.store(conf), ref, "good")
		// Or at the mirror alone.
		source.fault(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "closed", http.StatusServiceUnavailable)
		})
		c.sign(mirror, d)
		c.pulled(c.store(conf), ref, "good")
		// A mirror that serves other content under the tag is no way around.
		evil := mirror.push(c.t, repoPath+":v1", "evil")
		_, _, err := pull(c.t, c.store(conf), ref, image.PullOptions{})
		if image.KindOf(err) != image.Unavailable || !strings.Contains(err.Error(), evil) {
			c.t.Errorf("evil content of a mirror while the source is closed: %v", err)
		}
	},
	"expired": func(c *cell) {
		if !c.keyless {
			c.t.Skip("a key does not expire; certificates of a private authority do, see TestContainersPKI")
		}
		for _, at := range []time.Time{time.Now().Add(time.Hour), time.Now().Add(-time.Hour)} {
			r := c.registry()
			d := r.push(c.t, repoPath+":v1", "good")
			late := c.good
			late.at = at
			c.signAs(r, d, d, nil, late)
			c.require(r.host + "/acme")
			c.refused(c.store(""), r.host+"/"+repoPath+":v1", d)
		}
	},
	"missing": func(c *cell) {
		r := c.registry()
		r.push(c.t, repoPath+":v1", "good")
		c.require(r.host + "/acme")
		c.refused(c.store(""), r.host+"/"+repoPath+":v1", "there is no signature")
	},
	"policy unreadable": func(c *cell) {
		r := c.registry()
		d := r.push(c.t, repoPath+":v1", "good")
		c.sign(r, d)
		c.require(r.host + "/acme")
		s, ref := c.store(""), r.host+"/"+repoPath+":v1"
		c.pulled(s, ref, "good")
		// What was verified, and is in the store, is refused as well.
		good := must.Value(os.ReadFile(c.policy))(c.t)
		for name, content := range map[string]string{
			"empty": "", "not YAML": "{", "a typo": strings.Replace(string(good), "default", "fallback", 1),
			"no such key": strings.Replace(string(good), "key.pub", "gone.pub", 1) + " ", "two documents": string(good) + "---\ndefault: accept\nversion: 1\n",
		} {
			if name == "no such key" && c.keyless {
				content = strings.Replace(string(good), "trusted_root.json", "gone.json", 1)
			}
			write(c.t, c.dir, "policy.yaml", content)
			c.refused(s, ref, c.policy, "no image is accepted")
		}
		must.NoError(c.t, os.Remove(c.policy))
		c.refused(s, ref, c.policy, "no image is accepted")
		write(c.t, c.dir, "policy.yaml", string(good))
		c.pulled(s, ref, "good")
	},
	"in the store already": func(c *cell) {
		r := c.registry()
		ref := r.host + "/" + repoPath + "@" + r.push(c.t, repoPath+":v1", "good")
		dir := c.t.TempDir()
		before := must.Value(image.Open(dir, image.Config{}))(c.t)
		if _, v, err := pull(c.t, before, ref, image.PullOptions{}); err != nil || v != nil {
			c.t.Fatalf("without a policy: %v, %v", v, err)
		}
		c.require(r.host + "/acme")
		after := must.Value(image.Open(dir, image.Config{Verifier: New(Config{Policy: c.policy})}))(c.t)
		c.refused(after, ref, "there is no signature")
		if _, err := after.Verify(context.Background(), ref, image.VerifyOptions{}); image.KindOf(err) != image.Unverified {
			c.t.Errorf("Verify: %v", err)
		}
	},
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	for layout, l := range layouts {
		for signer, byKeyless := range map[string]bool{"key": false, "keyless": true} {
			for situation, run := range situations {
				t.Run(layout+"/"+signer+"/"+situation, func(t *testing.T) {
					t.Parallel()
					c := &cell{t: t, bundle: l.bundle, fallback: l.fallback, keyless: byKeyless, dir: t.TempDir()}
					s := newSigstore(t)
					c.good = keyless{sigstore: s, subject: subject, issuer: issuer}
					var public string
					c.key, public = newTestKey(t)
					c.other, _ = newTestKey(t)
					write(t, c.dir, "key.pub", public)
					write(t, c.dir, "trusted_root.json", string(s.trustedRoot(t)))
					run(c)
				})
			}
		}
	}
}
