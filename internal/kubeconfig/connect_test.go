package kubeconfig

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"fairlead.dev/fairlead/test/must"
)

// TestExplain: an API that does not answer is not one that the cluster lacks, and advice is given once.
func TestExplain(t *testing.T) {
	const lacks, away = "run the manager, which applies them", "`kubectl get apiservices` shows which"
	unavailable := apierrors.NewServiceUnavailable("no endpoints")
	for name, tc := range map[string]struct {
		err  error
		want string
		not  string
	}{
		"no kind":                   {&meta.NoKindMatchError{}, lacks, away},
		"the API does not answer":   {fmt.Errorf("list: %w", unavailable), away, lacks},
		"discovery is not answered": {fmt.Errorf("list: %w", &apiutil.ErrResourceDiscoveryFailed{schema.GroupVersion{Group: "g", Version: "v1"}: unavailable}), away, lacks},
		"refused":                   {errors.New("refused"), "refused", "run"},
	} {
		if got := Explain(tc.err).Error(); !strings.Contains(got, tc.want) || strings.Contains(got, tc.not) {
			t.Errorf("%s: %s", name, got)
		}
	}
	twice := fmt.Errorf("again: %w", Explain(unavailable))
	if Explain(twice) != twice {
		t.Errorf("it is explained twice: %v", Explain(twice))
	}
	if err := Explain(nil); err != nil {
		t.Errorf("nothing is explained as %v", err)
	}
}

func TestConfigThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	must.NoError(t, os.WriteFile(secret, []byte("root:x:0:0:root:/root:/bin/bash\n"), 0o600))
	missing := filepath.Join(dir, "missing")
	for name, c := range map[string]struct {
		env, flag, want string
	}{
		"a missing file in the environment": {missing, "", "read kubeconfig " + missing + ": there is no such file; correct --kubeconfig"},
		"a missing file in the flag":        {"", missing, "read kubeconfig " + missing + ": there is no such file"},
		"a file of another kind":            {"", secret, "read kubeconfig " + secret + ": it is not a kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", c.env)
			t.Setenv("HOME", dir)
			var f Flags
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			f.AddCluster(flags)
			must.NoError(t, flags.Set("kubeconfig", c.flag))
			_, err := f.Config()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %s", err, c.want)
			}
			for _, never := range []string{"KUBERNETES_MASTER", "struct {", "root:"} {
				if strings.Contains(err.Error(), never) {
					t.Errorf("error %v has %s", err, never)
				}
			}
		})
	}
}

func TestExplainRefusedConnection(t *testing.T) {
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	at := listener.Addr().String()
	must.NoError(t, listener.Close())
	request := must.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at+"/version", nil))(t)
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		_ = response.Body.Close()
		t.Fatal("something answers")
	}
	if got := Explain(err).Error(); !strings.Contains(got, "nothing answers at "+at+": start the cluster") {
		t.Error(got)
	}
}

// TestChosen: a namespace is chosen by the flag or by the context, and default is chosen only where it is named.
func TestChosen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	config := "apiVersion: v1\nkind: Config\ncurrent-context: bare\ncontexts:\n- {name: bare, context: {cluster: c}}\n" +
		"- {name: team, context: {cluster: c, namespace: team}}\n- {name: plain, context: {cluster: c, namespace: default}}\nclusters:\n- {name: c, cluster: {server: https://localhost:1}}\n"
	must.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	for name, tc := range map[string]struct {
		flags  []string
		chosen bool
	}{
		"by nothing":             {nil, false},
		"by the flag":            {[]string{"--namespace", "a"}, true},
		"by the context":         {[]string{"--context", "team"}, true},
		"default by the context": {[]string{"--context", "plain"}, true},
	} {
		var f Flags
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		f.AddCluster(flags)
		f.AddNamespace(flags)
		must.NoError(t, flags.Parse(append(tc.flags, "--kubeconfig", file)))
		must.Equal(t, name, f.Chosen(), tc.chosen)
	}
}
