package image

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestPullSecretsThatPointElsewhere: a pull secret made from the configuration of a workstation often has no credentials, but the name of
// a program of that workstation.
func TestPullSecretsThatPointElsewhere(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.fill(t, Config{}, "test/image:v1", "private")
	r.fault(basic("user"))
	for name, test := range map[string]struct{ document, says string }{
		"a store":          {`{"auths":{"` + r.host + `":{}},"credsStore":"desktop"}`, `credsStore "desktop"`},
		"a store alone":    {`{"credsStore":"desktop"}`, `credsStore "desktop"`},
		"a helper":         {`{"credHelpers":{"` + r.host + `":"ecr-login"}}`, `credHelpers "ecr-login"`},
		"a helper besides": {`{"auths":{"quay.io":{"auth":"YTpi"}},"credHelpers":{"` + r.host + `":"ecr-login"}}`, `credHelpers "ecr-login"`},
		"of another host":  {`{"credHelpers":{"quay.io":"ecr-login"}}`, ""},
	} {
		_, err := openStore(t, Config{}).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{Auth: Auth{[][]byte{[]byte(test.document)}}})
		var e *Error
		if !errors.As(err, &e) || e.Kind != Unauthorized {
			t.Fatalf("%s: %v, want %s", name, err, Unauthorized)
		}
		if test.says == "" && strings.Contains(e.Reason, "pull secret") {
			t.Errorf("%s: the reason speaks of what has nothing to do with it: %s", name, e.Reason)
		}
		if test.says != "" && (!strings.Contains(e.Reason, "pull secret 1") || !strings.Contains(e.Reason, test.says) || !strings.Contains(e.Advice, "kubectl create secret docker-registry")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := `{"auths":{"` + r.host + `":{"username":"user","password":"pw"}},"credsStore":"desktop"}`
	if _, err := openStore(t, Config{}).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{Auth: Auth{[][]byte{[]byte(good)}}}); err != nil {
		t.Errorf("a secret that has credentials as well: %v", err)
	}
}
