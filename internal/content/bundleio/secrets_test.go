package bundleio

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestAuthorities(t *testing.T) {
	secret := func(name, ca string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name}, Data: map[string][]byte{corev1.ServiceAccountRootCAKey: []byte(ca)}}
	}
	c := fake.NewClientBuilder().WithObjects(secret("one", "first"), secret("two", "second\n"), secret("none", "")).Build()
	for name, test := range map[string]struct {
		names      []string
		want, fail string
	}{
		"none":             {nil, "", ""},
		"in their order":   {[]string{"two", "none", "one"}, "second\n\nfirst\n", ""},
		"without any":      {[]string{"none"}, "", ""},
		"one that is gone": {[]string{"one", "gone"}, "", "read secret olm/gone"},
	} {
		got, err := SecretAuthorities(t.Context(), c, "olm", test.names)
		if string(got) != test.want || (err == nil) != (test.fail == "") || err != nil && !strings.Contains(err.Error(), test.fail) {
			t.Errorf("%s: %q, %v, want %q and an error about %q", name, got, err, test.want, test.fail)
		}
	}
}
