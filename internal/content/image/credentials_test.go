package image

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"go.podman.io/image/v5/types"
)

func userOf(user string) string {
	return fmt.Sprintf(`{"auth":%q}`, base64.StdEncoding.EncodeToString([]byte(user+":pw")))
}

// auths makes a docker config document of key, user pairs.
func auths(pairs ...string) []byte {
	var entries []string
	for i := 0; i < len(pairs); i += 2 {
		entries = append(entries, fmt.Sprintf("%q:%s", pairs[i], userOf(pairs[i+1])))
	}
	return []byte(`{"auths":{` + strings.Join(entries, ",") + `}}`)
}

func TestCredentialsOfARepository(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		documents [][]byte
		ref       string
		want      string // user, "" for none
	}{
		"host":                       {[][]byte{auths("quay.io", "u")}, "quay.io/org/app:v1", "u"},
		"host with port":             {[][]byte{auths("127.0.0.1:5000", "u", "127.0.0.1", "v")}, "127.0.0.1:5000/app:v1", "u"},
		"other host":                 {[][]byte{auths("quay.io", "u")}, "ghcr.io/org/app:v1", ""},
		"host is no prefix":          {[][]byte{auths("quay.io", "u")}, "quay.io.evil.example/app:v1", ""},
		"URL":                        {[][]byte{auths("https://quay.io/v2/", "u")}, "quay.io/org/app:v1", "u"},
		"docker hub":                 {[][]byte{auths("https://index.docker.io/v1/", "u")}, "busybox", "u"},
		"the closest key":            {[][]byte{auths("quay.io", "u", "quay.io/org", "v", "quay.io/org/app", "w")}, "quay.io/org/app:v1", "w"},
		"a parent":                   {[][]byte{auths("quay.io", "u", "quay.io/org", "v")}, "quay.io/org/app/part:v1", "v"},
		"no half names":              {[][]byte{auths("quay.io/or", "u")}, "quay.io/org/app:v1", ""},
		"pattern":                    {[][]byte{auths("*.quay.io", "u")}, "eu.quay.io/org/app:v1", "u"},
		"pattern within one label":   {[][]byte{auths("*.io", "u")}, "eu.quay.io/org/app:v1", ""},
		"exact before pattern":       {[][]byte{auths("??.quay.io", "u", "eu.quay.io", "v")}, "eu.quay.io/org/app:v1", "v"},
		"broken pattern":             {[][]byte{auths("[.quay.io", "u")}, "eu.quay.io/org/app:v1", ""},
		"later documents win":        {[][]byte{auths("quay.io", "u"), auths("https://quay.io", "v")}, "quay.io/org/app:v1", "v"},
		"the older format":           {[][]byte{[]byte(`{"quay.io":` + userOf("u") + `}`)}, "quay.io/org/app:v1", "u"},
		"the older format, settings": {[][]byte{[]byte(`{"credsStore":"x","quay.io":` + userOf("u") + `}`)}, "quay.io/org/app:v1", "u"},
		"user and password apart":    {[][]byte{[]byte(`{"auths":{"quay.io":{"username":"u","password":"pw"}}}`)}, "quay.io/org/app:v1", "u"},
		"nothing":                    {nil, "quay.io/org/app:v1", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := must.Value(parseAuth(Auth{DockerConfig: tt.documents}))(t)
			named := must.Value(parseReference(tt.ref))(t)
			got, ok := all.lookup(named)
			want := types.DockerAuthConfig{}
			if tt.want != "" {
				want = types.DockerAuthConfig{Username: tt.want, Password: "pw"}
			}
			if diff := cmp.Diff(want, got); diff != "" || ok != (tt.want != "") {
				t.Errorf("found %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestBrokenPullSecretsStaySecret(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"not JSON":      `{"auths":{"quay.io":{"auth":"hunter2"`,
		"not base64":    `{"auths":{"quay.io":{"auth":"hunter2!"}}}`,
		"no colon":      `{"auths":{"quay.io":{"auth":"aHVudGVyMg=="}}}`,
		"another type":  `{"auths":"hunter2"}`,
		"a bare string": `"hunter2"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseAuth(Auth{DockerConfig: [][]byte{auths("quay.io", "u"), []byte(document)}})
			if KindOf(err) != Unauthorized || !strings.Contains(err.Error(), "pull secret 2") {
				t.Fatalf("error %v, want %s of pull secret 2", err, Unauthorized)
			}
			if text := complete(err, "pull", "x").Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "aHVudGVyMg") {
				t.Errorf("the error repeats the secret: %s", text)
			}
		})
	}
}

func FuzzParseAuth(f *testing.F) {
	f.Add(auths("quay.io", "u"), "quay.io/org/app:v1")
	f.Add([]byte(`{"*.io":{"username":"u"}}`), "a.io/b")
	f.Fuzz(func(t *testing.T, document []byte, ref string) {
		all, err := parseAuth(Auth{DockerConfig: [][]byte{document}})
		named, refErr := parseReference(ref)
		if err != nil || refErr != nil {
			return
		}
		first, ok := all.lookup(named)
		if again, okAgain := all.lookup(named); again != first || okAgain != ok {
			t.Errorf("two answers: %v and %v", first, again)
		}
	})
}
