package signature

import (
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

func TestScopes(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"quay.io/acme/team/catalog":      {"quay.io/acme/team/catalog", "quay.io/acme/team", "quay.io/acme", "quay.io", "*.io"},
		"registry.eu.example.com:5000/a": {"registry.eu.example.com:5000/a", "registry.eu.example.com:5000", "*.eu.example.com", "*.example.com", "*.com"},
		"localhost:5000/a":               {"localhost:5000/a", "localhost:5000"},
	}
	for repository, want := range tests {
		must.Equal(t, repository, scopes(repository), want)
	}
}

func TestClosestRuleWins(t *testing.T) {
	t.Parallel()
	p := must.Value(parsePolicy("policy.yaml", []byte((`
version: 1
default: reject
rules:
- {scope: "*.example.com", action: accept}
- {scope: quay.io, action: reject}
- {scope: quay.io/acme, action: accept}
- {scope: quay.io/acme/secret, action: reject}
- {scope: "localhost:5000/a", action: accept}
`)), &files{}))(t)
	tests := map[string]string{
		"quay.io/acme/catalog":       "quay.io/acme",
		"quay.io/acme":               "quay.io/acme",
		"quay.io/acme-evil/catalog":  "quay.io", // on path boundaries
		"quay.io/acme/secret":        "quay.io/acme/secret",
		"quay.io/acme/secret/x":      "quay.io/acme/secret",
		"quay.io/acme/secretive":     "quay.io/acme",
		"a.b.example.com/x":          "*.example.com",
		"example.com/x":              "",
		"evilexample.com/x":          "",
		"quay.io.evil.net/acme/x":    "",
		"localhost:5000/a":           "localhost:5000/a",
		"localhost:5001/a":           "",
		"localhost/a":                "",
		"quay.io:443/acme/catalog":   "",
		"docker.io/quay.io/acme/cat": "",
	}
	for repository, scope := range tests {
		want := "default of policy.yaml"
		if scope != "" {
			want = fmt.Sprintf("rule %q of policy.yaml", scope)
		}
		must.Equal(t, repository, p.rule(repository).rule, want)
	}
}

// TestPolicyErrors: each mistake is refused with the line and the field.
func TestPolicyErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, public := newTestKey(t)
	write(t, dir, "key.pub", public)
	write(t, dir, "notes.txt", "no key")
	write(t, dir, "root.json", string(newSigstore(t).trustedRoot(t)))
	write(t, dir, "empty.json", `{"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}`)
	rule := func(lines ...string) string {
		return "version: 1\ndefault: reject\nrules:\n- " + strings.Join(lines, "\n  ") + "\n"
	}
	signer := func(text string) string { return rule("scope: quay.io", "action: verify", "signers: [{"+text+"}]") }
	tests := map[string]struct{ text, says string }{
		"empty":                   {"", "is empty"},
		"a comment":               {"# nothing\n", "is empty"},
		"a list":                  {"- a\n", ":1: it must be an object"},
		"no version":              {"default: reject\n", "version is missing"},
		"another version":         {"version: 2\ndefault: reject\n", "version 2"},
		"no default":              {"version: 1\n", "default is missing"},
		"default verify":          {"version: 1\ndefault: verify\n", `:2: default: "verify" is not accept or reject`},
		"default null":            {"version: 1\ndefault:\n", ":2: default: it must be a string"},
		"a typo":                  {"version: 1\ndefault: reject\nrule: []\n", ":3: rule: there is no such field"},
		"a repeated field":        {"version: 1\ndefault: reject\ndefault: accept\n", "repeated"},
		"an alias":                {"version: 1\ndefault: &d reject\ntrustedRoot: *d\n", ":3: trustedRoot"},
		"a merge":                 {"version: 1\ndefault: reject\nrules:\n- &r {scope: a.io, action: accept}\n- {<<: *r, scope: b.io}\n", "must be a string"},
		"an empty scope":          {rule("scope: ''", "action: accept"), ":4: rules[0].scope: it is empty"},
		"no scope":                {rule("action: accept"), "scope"},
		"a scope with a tag":      {rule("scope: quay.io/a:v1", "action: accept"), ":4: rules[0]: scope"},
		"a scope with a digest":   {rule("scope: quay.io/a@sha256:00", "action: accept"), "no tag, digest or trailing slash"},
		"a scope with a slash":    {rule("scope: quay.io/a/", "action: accept"), "trailing slash"},
		"a scope in capitals":     {rule("scope: Quay.io", "action: accept"), "registry host"},
		"a pattern with a path":   {rule(`scope: "*.quay.io/a"`, "action: accept"), "without port and path"},
		"index.docker.io":         {rule("scope: index.docker.io/library", "action: accept"), "docker.io"},
		"a scope twice":           {"version: 1\ndefault: reject\nrules:\n- {scope: a.io, action: accept}\n- {scope: a.io, action: reject}\n", ":5: rules[1]"},
		"no action":               {rule("scope: quay.io"), "action"},
		"an unknown action":       {rule("scope: quay.io", "action: allow"), `action "allow"`},
		"verify without signers":  {rule("scope: quay.io", "action: verify"), "needs signers"},
		"verify with no signers":  {rule("scope: quay.io", "action: verify", "signers: []"), "needs signers"},
		"accept with signers":     {rule("scope: quay.io", "action: accept", "signers: [{keys: [{file: key.pub}]}]"), "belong to action verify"},
		"covers is text":          {rule("scope: quay.io", "action: verify", "covers: 'no'", "signers: [{keys: [{file: key.pub}]}]"), "true or false"},
		"an empty signer":         {signer(""), "neither keys nor issuer"},
		"keys without a key":      {signer("keys: []"), "neither keys nor issuer"},
		"a key of no kind":        {signer("keys: [{}]"), "either file or pem"},
		"a key that is missing":   {signer("keys: [{file: gone.pub}]"), "no such file"},
		"a key that is none":      {signer("keys: [{file: notes.txt}]"), "not PEM"},
		"a key and an identity":   {signer("keys: [{file: key.pub}], issuer: a, subject: b"), "two signers"},
		"a key with SCTs":         {signer("keys: [{file: key.pub}], certificateLog: 1"), "belongs to a keyless signer"},
		"a log without a root":    {signer("keys: [{file: key.pub}], transparencyLog: 1"), "needs a trusted root"},
		"no subject":              {signer("issuer: a, trustedRoot: root.json"), "either subject or subjectPattern"},
		"no issuer":               {signer("subject: a, trustedRoot: root.json"), "either issuer or issuerPattern"},
		"subject twice":           {signer("issuer: a, subject: b, subjectPattern: c, trustedRoot: root.json"), "either subject or subjectPattern"},
		"a pattern for everyone":  {signer("issuer: a, subjectPattern: '.*', trustedRoot: root.json"), "write .+"},
		"a pattern that is none":  {signer("issuer: a, subjectPattern: '(', trustedRoot: root.json"), "no regular expression"},
		"a pattern that escapes":  {signer("issuer: a, subjectPattern: 'a)|(?:b', trustedRoot: root.json"), "no regular expression"},
		"no trusted root":         {signer("issuer: a, subject: b"), "needs a trusted root"},
		"a root that is missing":  {signer("issuer: a, subject: b, trustedRoot: gone.json"), "no such file"},
		"a root that is none":     {signer("issuer: a, subject: b, trustedRoot: notes.txt"), "no trusted root"},
		"a root without anything": {signer("issuer: a, subject: b, trustedRoot: empty.json"), "no certificate authority"},
		"nothing proves the time": {signer("issuer: a, subject: b, trustedRoot: root.json, transparencyLog: 0"), "nothing proves when"},
		"too many logs":           {signer("issuer: a, subject: b, trustedRoot: root.json, transparencyLog: 2"), "has 1 transparency logs"},
		"too many authorities":    {signer("issuer: a, subject: b, trustedRoot: root.json, signedTimestamps: 3"), "has 1 timestamp authorities"},
		"no log of certificates":  {signer("issuer: a, subject: b, trustedRoot: root.json, certificateLog: 1"), "0 logs of certificates"},
		"a negative number":       {signer("issuer: a, subject: b, trustedRoot: root.json, transparencyLog: -1"), "number from 0 to 8"},
		"a number as text":        {signer("issuer: a, subject: b, trustedRoot: root.json, transparencyLog: '1'"), "number from 0 to 8"},
		"too large":               {"version: 1\ndefault: reject\n#" + strings.Repeat("x", maxPolicy), "bytes"},
	}
	file := write(t, dir, "policy.yaml", "")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := parsePolicy(file, []byte(tt.text), &files{})
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v does not say %q", err, tt.says)
			}
			if err != nil && (!strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "signature.")) {
				t.Errorf("the error does not name the file, or names a type: %v", err)
			}
			if p != nil && err != nil && p.fallback != nil && p.fallback.action == actionAccept {
				t.Error("a policy with an error accepts")
			}
		})
	}
	good := signer("issuer: a, subjectPattern: 'b|c', trustedRoot: root.json, signedTimestamps: 1")
	p := must.Value(parsePolicy(file, []byte(good), &files{}))(t)
	if i := p.scopes["quay.io"].anyOf[0].identity.matcher.SubjectAlternativeName.Regexp; !i.MatchString("b") || i.MatchString("xb") || i.MatchString("cx") {
		t.Errorf("the pattern is not held to the whole: %s", i.String())
	}
}

// TestContainersErrors: what containers' tools refuse is refused.
func TestContainersErrors(t *testing.T) {
	t.Parallel()
	_, public := newTestKey(t)
	dir := t.TempDir()
	key := write(t, dir, "key.pub", public)
	scope := func(requirement string) string {
		return `{"default": [{"type": "reject"}], "transports": {"docker": {"quay.io": [` + requirement + `]}}}`
	}
	tests := map[string]struct{ text, says string }{
		"empty":                 {"", "not JSON"},
		"YAML":                  {"default: [{type: reject}]", "not JSON"},
		"no default":            {`{}`, "default is missing"},
		"no requirements":       {`{"default": []}`, "list of requirements is empty"},
		"an unknown field":      {`{"default": [{"type": "reject"}], "x": 1}`, "no such field"},
		"a repeated field":      {`{"default": [{"type": "reject"}], "default": [{"type": "insecureAcceptAnything"}]}`, "repeated"},
		"no type":               {scope(`{}`), "type is missing"},
		"reject with more":      {scope(`{"type": "reject", "keyPath": "x"}`), "no such field"},
		"no key":                {scope(`{"type": "sigstoreSigned"}`), "exactly one of"},
		"two keys":              {scope(fmt.Sprintf(`{"type": "sigstoreSigned", "keyPath": %q, "keyData": "AA=="}`, key)), "exactly one of"},
		"a key that is missing": {scope(`{"type": "sigstoreSigned", "keyPath": "/gone"}`), "/gone"},
		"a key that is none":    {scope(`{"type": "sigstoreSigned", "keyData": "AAAA"}`), "not PEM"},
		"data that is none":     {scope(`{"type": "sigstoreSigned", "keyData": "%"}`), "base64"},
		"an unknown identity":   {scope(fmt.Sprintf(`{"type": "sigstoreSigned", "keyPath": %q, "signedIdentity": {"type": "x"}}`, key)), "not known"},
		"identity lacks":        {scope(fmt.Sprintf(`{"type": "sigstoreSigned", "keyPath": %q, "signedIdentity": {"type": "exactReference"}}`, key)), "dockerReference"},
		"identity has more":     {scope(fmt.Sprintf(`{"type": "sigstoreSigned", "keyPath": %q, "signedIdentity": {"type": "matchExact", "prefix": "a"}}`, key)), "no field prefix"},
		"fulcio without log":    {scope(`{"type": "sigstoreSigned", "fulcio": {"caData": "AA==", "oidcIssuer": "a", "subjectEmail": "b"}}`), "rekorPublicKey"},
		"fulcio without email":  {scope(`{"type": "sigstoreSigned", "fulcio": {"caData": "AA==", "oidcIssuer": "a"}}`), "subjectEmail"},
		"pki for anyone":        {scope(`{"type": "sigstoreSigned", "pki": {"caRootsData": "AA=="}}`), "subjectHostname"},
	}
	for name, tt := range tests {
		_, err := parseContainers("policy.json", []byte(tt.text), &files{})
		must.Fail(t, name, err, tt.says)
	}
}

// TestContainersScopes follows containers' policy.json: the whole reference
// first, the default of the transport before that of the file.
func TestContainersScopes(t *testing.T) {
	t.Parallel()
	const text = `{
	"default": [{"type": "reject"}],
	"transports": {
		"docker-daemon": {"": [{"type": "unheard of"}]},
		"docker": {
			"": [{"type": "insecureAcceptAnything"}],
			"quay.io/acme/catalog:v1": [{"type": "insecureAcceptAnything"}, {"type": "insecureAcceptAnything"}],
			"quay.io/acme": [{"type": "reject"}],
			"*.example.com": [{"type": "signedBy", "keyType": "GPGKeys", "keyPath": "/x"}]
		}
	}}`
	c := must.Value(parseContainers("policy.json", []byte(text), &files{}))(t)
	tests := map[string]struct {
		repository string
		want       []action
	}{
		"quay.io/acme/catalog:v1": {"quay.io/acme/catalog", []action{actionAccept, actionAccept}},
		"quay.io/acme/catalog:v2": {"quay.io/acme/catalog", []action{actionReject}},
		"docker.io/library/x:v1":  {"docker.io/library/x", []action{actionAccept}},
		"a.example.com/x:v1":      {"a.example.com/x", []action{actionReject}},
	}
	for ref, tt := range tests {
		var got []action
		for _, r := range c.requirements(ref, tt.repository) {
			got = append(got, r.action)
		}
		must.Equal(t, ref, got, tt.want)
	}
	gpg := c.requirements("a.example.com/x:v1", "a.example.com/x")[0]
	if err := rejected(gpg); !strings.Contains(err.Error(), `"signedBy"`) || !strings.Contains(err.Error(), "*.example.com") {
		t.Errorf("a requirement that cannot be evaluated is not named: %v", err)
	}
	delete(c.scopes, "")
	if got := c.requirements("docker.io/library/x:v1", "docker.io/library/x"); len(got) != 1 || got[0].action != actionReject {
		t.Errorf("without a default of the transport: %v", got)
	}
}

// TestSpellingsOfAHost: no other spelling of a registry host evades the rules for it, whatever the default is.
func TestSpellingsOfAHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := New(Config{Policy: write(t, dir, "policy.yaml", "version: 1\ndefault: accept\nrules:\n- {scope: registry.example.com/prod, action: reject}\n")})
	for repository, want := range map[string]bool{
		"registry.example.com/prod/x":      false,
		"Registry.example.com/prod/x":      false,
		"registry.example.com:443/prod/x":  false,
		"registry-1.docker.io/library/x":   false,
		"registry.example.com:5000/prod/x": true,
		"registry.example.com/test/x":      true,
		"docker.io/library/x":              true,
	} {
		_, err := v.Verify(t.Context(), image.VerifyRequest{Ref: repository + ":v1", Repository: repository, Tag: "v1", Digest: "sha256:" + strings.Repeat("a", 64)})
		if (err == nil) != want || err != nil && image.KindOf(err) != image.Unverified {
			t.Errorf("%s: %v", repository, err)
		}
	}
}
