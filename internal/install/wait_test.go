package install

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/kubeconfig"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAWaitThatIsOverSaysWhatItWaitedFor polls a slow API server with the client that commands use, until the time is up.
func TestAWaitThatIsOverSaysWhatItWaitedFor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"s","namespace":"ns"},
			"status":{"conditions":[{"type":"Ready","status":"False","reason":"Held","message":"OperatorGroup a/b is in the way"}]}}`))
	}))
	defer server.Close()
	c := connect(t, server.URL)
	// More requests than a client with the usual limit of 5 a second may make in the time.
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	for range 15 { // which are what the limit allows at once
		var sub v1alpha1.Subscription
		if err := c.Get(ctx, client.ObjectKey{Namespace: "ns", Name: "s"}, &sub); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Wait(ctx, c, client.ObjectKey{Namespace: "ns", Name: "s"}, func(string, string) {})
	if err == nil || !strings.Contains(err.Error(), "OperatorGroup a/b is in the way") {
		t.Errorf("got %v, want what was waited for", err)
	}
}

func connect(t *testing.T, address string) client.Client {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"` + address + `"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var flags kubeconfig.Flags
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.AddCluster(set)
	if err := set.Parse([]string{"--kubeconfig", file}); err != nil {
		t.Fatal(err)
	}
	config, err := flags.Config()
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.GroupVersion.WithKind(v1alpha1.SubscriptionKind), meta.RESTScopeNamespace)
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
