package bundleio

import (
	"context"
	"errors"
	"testing"

	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestCredentials: those of the account come first, so that those of the Secret win; what is not there is none.
func TestCredentials(t *testing.T) {
	secret := func(name, content string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name}, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(content)}}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "manager"},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "gone"}, {Name: "mine"}}}
	reader := fake.NewClientBuilder().WithObjects(secret("global", "G"), secret("mine", "M"), account).Build()
	named := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "olm", Name: name} }
	for name, test := range map[string]struct {
		from Credentials
		want []string
	}{
		"none":                         {},
		"a Secret":                     {Credentials{Secret: named("global")}, []string{"G"}},
		"a Secret that is not there":   {Credentials{Secret: named("none")}, nil},
		"both":                         {Credentials{Secret: named("global"), Account: named("manager")}, []string{"M", "G"}},
		"an account that is not there": {Credentials{Account: named("nobody")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			auth := must.Value(test.from.Read(t.Context(), reader))(t)
			var got []string
			for _, document := range auth.DockerConfig {
				got = append(got, string(document))
			}
			must.Equal(t, "result", got, test.want)
		})
	}
	down := errors.New("the API server is down")
	broken := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return down
		}}).Build()
	for _, from := range []Credentials{{Secret: named("global")}, {Account: named("manager")}} {
		if _, err := from.Read(t.Context(), broken); !errors.Is(err, down) {
			t.Errorf("%+v: %v", from, err)
		}
	}
}
