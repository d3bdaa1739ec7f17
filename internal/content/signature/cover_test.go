package signature

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// signed is a registry with a signed catalog, and a key that signs.
type signed struct {
	*registry
	t      *testing.T
	dir    string
	key    *Key
	policy string
}

func newSigned(t *testing.T) *signed {
	t.Helper()
	s := &signed{registry: newRegistry(t), t: t, dir: t.TempDir()}
	var public string
	s.key, public = newTestKey(t)
	write(t, s.dir, "key.pub", public)
	return s
}

// require writes a policy; HOST stands for the registry, and KEY for its signers.
func (s *signed) require(fallback string, rules ...string) {
	text := "version: 1\ndefault: " + fallback + "\n"
	if len(rules) > 0 {
		text += "rules:\n"
	}
	for _, r := range rules {
		text += "- " + strings.NewReplacer("HOST", s.host, "KEY", "action: verify, signers: [{keys: [{file: key.pub}]}]").Replace(r) + "\n"
	}
	s.policy = write(s.t, s.dir, "policy.yaml", text)
}

func (s *signed) sign(repository, digest string) {
	s.t.Helper()
	must.NoError(s.t, Sign(context.Background(), s.host+"/"+repository, digest, s.key, image.PushOptions{}))
}

func (s *signed) store() *image.Store { return openStore(s.t, Config{Policy: s.policy}, "") }

// TestCoverage: the signature on a catalog covers the bundles that it names by
// digest, unless a rule is for these.
func TestCoverage(t *testing.T) {
	t.Parallel()
	catalogs := `{scope: "HOST/catalogs", KEY}`
	tests := map[string]struct {
		fallback string
		rules    []string
		byTag    bool
		unnamed  bool
		unsigned bool // the catalog
		other    bool // the catalog is said to have had another digest
		own      bool // the bundle has a signature of its own
		outcome  image.Outcome
		says     string
	}{
		"covered":                             {fallback: "reject", rules: []string{catalogs}, outcome: image.Covered},
		"named by tag":                        {fallback: "reject", rules: []string{catalogs}, byTag: true, says: "no rule is for its repository"},
		"named by no catalog":                 {fallback: "reject", rules: []string{catalogs}, unnamed: true, says: "no rule is for its repository"},
		"catalog not signed":                  {fallback: "reject", rules: []string{catalogs}, unsigned: true, says: "does not satisfy rule"},
		"catalog had another digest":          {fallback: "reject", rules: []string{catalogs}, other: true, says: "does not satisfy rule"},
		"catalog accepted without signature":  {fallback: "reject", rules: []string{`{scope: "HOST/catalogs", action: accept}`}, says: "no rule is for its repository"},
		"catalog by default":                  {fallback: "accept", outcome: image.Accepted},
		"covers: false":                       {fallback: "reject", rules: []string{strings.Replace(catalogs, "KEY", "KEY, covers: false", 1)}, says: "no rule is for its repository"},
		"a rule for the bundle":               {fallback: "reject", rules: []string{catalogs, `{scope: "HOST/bundles", KEY}`}, says: "/bundles"},
		"a rule for the bundle, and signed":   {fallback: "reject", rules: []string{catalogs, `{scope: "HOST/bundles", KEY}`}, own: true, outcome: image.Signed},
		"a rule rejects the bundle":           {fallback: "reject", rules: []string{catalogs, `{scope: "HOST/bundles", action: reject}`}, own: true, says: "rejects it"},
		"a rule accepts the bundle":           {fallback: "reject", rules: []string{catalogs, `{scope: "HOST/bundles", action: accept}`}, outcome: image.Accepted},
		"one rule for both":                   {fallback: "reject", rules: []string{`{scope: "HOST", KEY}`}, outcome: image.Covered},
		"one rule for both, catalog unsigned": {fallback: "reject", rules: []string{`{scope: "HOST", KEY}`}, unsigned: true, says: "requires a signature"},
		"one rule for both, own signature":    {fallback: "reject", rules: []string{`{scope: "HOST", KEY}`}, unsigned: true, own: true, outcome: image.Signed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSigned(t)
			catalog, bundle := s.push(t, "catalogs/main:v1", "catalog"), s.push(t, "bundles/etcd:v1", "bundle")
			if !tt.unsigned {
				s.sign("catalogs/main", catalog)
			}
			if tt.own {
				s.sign("bundles/etcd", bundle)
			}
			s.require(tt.fallback, tt.rules...)
			o := image.PullOptions{NamedBy: &image.Origin{Ref: s.host + "/catalogs/main:v1", Digest: catalog}}
			if tt.other {
				o.NamedBy.Digest = bundle
			}
			if tt.unnamed {
				o.NamedBy = nil
			}
			ref := s.host + "/bundles/etcd@" + bundle
			if tt.byTag {
				ref = s.host + "/bundles/etcd:v1"
			}
			_, v, err := pull(t, s.store(), ref, o)
			if tt.outcome == "" {
				if image.KindOf(err) != image.Unverified || !strings.Contains(err.Error(), tt.says) {
					t.Fatalf("error %v does not say %q", err, tt.says)
				}
				return
			}
			if err != nil || v.Outcome != tt.outcome {
				t.Fatalf("verification %+v, error %v", v, err)
			}
			if tt.outcome == image.Covered {
				want := fmt.Sprintf("named by catalog %s at %s, which is signed by key %s", s.host+"/catalogs/main:v1", catalog, s.key.ID)
				if v.String() != want || v.Catalog.Digest != catalog {
					t.Errorf("chain %q, want %q", v, want)
				}
			}
		})
	}
}

// TestPolicyChange: another policy holds from the next request on, for what was
// verified and what was covered as well.
func TestPolicyChange(t *testing.T) {
	t.Parallel()
	s := newSigned(t)
	catalog, bundle := s.push(t, "catalogs/main:v1", "catalog"), s.push(t, "bundles/etcd:v1", "bundle")
	s.sign("catalogs/main", catalog)
	s.require("reject", `{scope: "HOST/catalogs", KEY}`)
	store, ref := s.store(), s.host+"/bundles/etcd@"+bundle
	o := image.PullOptions{NamedBy: &image.Origin{Ref: s.host + "/catalogs/main:v1", Digest: catalog}}
	if _, v, err := pull(t, store, ref, o); err != nil || v.Outcome != image.Covered {
		t.Fatalf("%v, %v", v, err)
	}
	_, stranger := newTestKey(t)
	write(t, s.dir, "key.pub", stranger) // the policy itself stays as it is
	if _, _, err := pull(t, store, ref, o); image.KindOf(err) != image.Unverified {
		t.Fatalf("after the key changed: %v", err)
	}
	s.require("reject", `{scope: "HOST", action: accept}`)
	if _, v, err := pull(t, store, ref, o); err != nil || v.Outcome != image.Accepted {
		t.Fatalf("after the policy changed: %v, %v", v, err)
	}
}

// TestRequests: no policy asks for nothing more, and what is known is not asked
// for again.
func TestRequests(t *testing.T) {
	t.Parallel()
	s := newSigned(t)
	digest := s.push(t, "catalogs/main:v1", "catalog")
	s.sign("catalogs/main", digest)
	ref := s.host + "/catalogs/main:v1"
	requests := func(store *image.Store) (asked []string) {
		t.Helper()
		s.seen()
		if _, _, err := pull(t, store, ref, image.PullOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, r := range s.seen() {
			if strings.Contains(r, ".sig") || strings.Contains(r, "/referrers/") {
				asked = append(asked, r)
			}
		}
		return asked
	}
	must.Empty(t, "without a policy", requests(openStore(t, Config{Containers: t.TempDir() + "/gone", ContainersOptional: true}, "")))
	s.require("accept")
	must.Empty(t, "with a policy that accepts", requests(s.store()))
	s.require("reject", `{scope: "HOST", KEY}`)
	store := s.store()
	must.Equal(t, "the first time", len(requests(store)), 1)
	must.Empty(t, "the second time", requests(store))
}

// TestUndecided: a registry that fails, or refuses, is no reason to accept, and
// none to give up.
func TestUndecided(t *testing.T) {
	t.Parallel()
	s := newSigned(t)
	digest := s.push(t, "catalogs/main:v1", "catalog")
	s.require("reject", `{scope: "HOST", KEY}`)
	tests := map[int]image.Kind{
		http.StatusServiceUnavailable: image.Unavailable, http.StatusInternalServerError: image.Unavailable,
		http.StatusTooManyRequests: image.RateLimited, http.StatusForbidden: image.Unauthorized,
	}
	for status, kind := range tests {
		for _, part := range []string{".sig", "/referrers/"} {
			s.fault(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if strings.Contains(r.URL.Path, part) {
					http.Error(w, "{}", status)
					return
				}
				next.ServeHTTP(w, r)
			})
			_, _, err := pull(t, s.store(), s.host+"/catalogs/main@"+digest, image.PullOptions{})
			if image.KindOf(err) != kind || !strings.Contains(err.Error(), "could not be read") {
				t.Errorf("%d at %s: %v", status, part, err)
			}
		}
	}
	s.fault(nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.store().Verify(ctx, s.host+"/catalogs/main@"+digest, image.VerifyOptions{}); err == nil || image.KindOf(err) == image.Unverified {
		t.Errorf("cancelled: %v", err)
	}
}

// TestHostileSignatures: what a registry sends is bounded, and no trouble with
// one signature hides a good one.
func TestHostileSignatures(t *testing.T) {
	t.Parallel()
	s := newSigned(t)
	digest := s.push(t, "catalogs/main:v1", "catalog")
	s.require("reject", `{scope: "HOST", KEY}`)
	ref := s.host + "/catalogs/main@" + digest
	attach := func(a image.Attachment) { s.attach(t, "catalogs/main", digest, a) }
	garbage := []string{"", "{", "[]", "null", strings.Repeat("[", 10_000), `{"critical":{}}`, strings.Repeat("x", maxSignature+1)}
	for _, g := range garbage {
		attach(image.Attachment{Tag: tagOf(digest) + ".sig", MediaType: mediaSimpleSigning, Data: []byte(g), Annotations: map[string]string{annotationSignature: "AA=="}})
		attach(image.Attachment{MediaType: mediaBundle, Data: []byte(g)})
	}
	if _, _, err := pull(t, s.store(), ref, image.PullOptions{}); image.KindOf(err) != image.Unverified || len(err.Error()) > 4000 {
		t.Fatalf("garbage: %v", err)
	}
	s.sign("catalogs/main", digest)
	if _, _, err := pull(t, s.store(), ref, image.PullOptions{}); err != nil {
		t.Fatalf("good beside garbage: %v", err)
	}
	endless := func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !strings.Contains(r.URL.Path, ".sig") {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		for range 1 << 12 {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	s.fault(endless)
	start := time.Now()
	_, _, err := pull(t, s.store(), ref, image.PullOptions{})
	must.Equal(t, "an endless manifest", image.KindOf(err), image.LimitExceeded)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("an endless manifest took %s", took)
	}
}

// TestACatalogThatWasNotReadInTimeDecidesNothing about the images that only it covers: that the time was over is no refusal.
func TestACatalogThatWasNotReadInTimeDecidesNothing(t *testing.T) {
	t.Parallel()
	s := newSigned(t)
	s.require("reject", `{scope: "HOST/catalogs", KEY}`)
	digest := "sha256:" + strings.Repeat("b", 64)
	for name, cause := range map[string]error{"deadline": context.DeadlineExceeded, "cancelled": fmt.Errorf("read: %w", context.Canceled)} {
		_, err := New(Config{Policy: s.policy}).Verify(t.Context(), image.VerifyRequest{
			Ref: s.host + "/bundles/app@" + digest, Repository: s.host + "/bundles/app", Digest: digest,
			NamedBy:   &image.Origin{Ref: s.host + "/catalogs/main:v1", Digest: digest},
			Artifacts: func(string) ([]*image.Artifacts, error) { return nil, cause },
		})
		if !errors.Is(err, cause) || image.KindOf(err) != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
