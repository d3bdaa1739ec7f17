package permissions

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// run gives a command to a shell in which kubectl notes its arguments, and returns the objects that it would reconcile.
func run(t *testing.T, command string) []*unstructured.Unstructured {
	t.Helper()
	dir := t.TempDir()
	fake := "#!/bin/sh\nprintf '%s\\n' \"$*\" >" + filepath.Join(dir, "arguments") + "\ncat >" + filepath.Join(dir, "input") + "\n"
	must.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(fake), 0o755))
	sh := exec.CommandContext(t.Context(), "sh", "-c", command)
	sh.Env, sh.Dir = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH")), dir
	if out, err := sh.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%s\n%v: %s", command, err, out)
	}
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	must.NoErrorf(t, err, "kubectl is run")
	must.Equal(t, "kubectl is run", string(arguments), "auth reconcile -f -\n")
	input := must.Value(os.ReadFile(filepath.Join(dir, "input")))(t)
	var list struct {
		APIVersion, Kind string
		Items            []map[string]any
	}
	if err := json.Unmarshal(input, &list); err != nil || list.APIVersion != "v1" || list.Kind != "List" {
		t.Fatalf("kubectl gets %s: %v", input, err)
	}
	var objects []*unstructured.Unstructured
	for _, item := range list.Items {
		objects = append(objects, &unstructured.Unstructured{Object: item})
	}
	must.Equal(t, "the command has made other files", len(must.Value(os.ReadDir(dir))(t)), 3)
	return objects
}

// TestCommand runs the command for everything that the golden files have missing: with what it gives to kubectl applied, nothing is.
func TestCommand(t *testing.T) {
	each(t, "testdata/missing/*.txtar", func(t *testing.T, sections map[string]string) map[string]string {
		namespace, name, _ := strings.Cut(strings.TrimSpace(sections["subject"]), "/")
		subject := ServiceAccount(namespace, name)
		var needs []Need
		must.NoError(t, yaml.UnmarshalStrict([]byte(sections["needs"]), &needs))
		objects, before := documents(t, sections["objects"]), documents(t, sections["cluster"])
		missing, _ := Missing(subject, clusterOf(t, before).Source(), objects, needs...)
		if len(missing) == 0 {
			return nil
		}
		command, ok := Command("my-installer", subject, missing)
		if !ok || strings.Contains(command, "\n") {
			t.Fatalf("there is no command in one line: %s", command)
		}
		if rest, _ := Missing(subject, clusterOf(t, append(before, run(t, command)...)).Source(), objects, needs...); len(rest) > 0 {
			t.Errorf("after the command this is still missing: %v", rest)
		}
		return nil
	})
}

// TestCommandRunsNothingOfABundle: words of rules reach kubectl as they are, whatever a shell or a terminal would make of them.
func TestCommandRunsNothingOfABundle(t *testing.T) {
	words := []string{`'; touch mine; '`, "$(touch mine)", "`touch mine`", `a\nb\\c\u0027%s%%`, "a\nb\x1b[201~\u009b201~", "\u202eabc\U0001f600", `"<>&"`}
	command, ok := Command("my-installer", ServiceAccount("ns", "installer"), []MissingRule{{"", rbacv1.PolicyRule{Verbs: words, NonResourceURLs: words}}})
	if !ok {
		t.Fatal(command)
	}
	if i := strings.IndexFunc(command, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
		t.Errorf("the command has a character that terminals do not print: %q", command[i:])
	}
	rules, _, err := unstructured.NestedSlice(run(t, command)[0].Object, "rules")
	must.NoError(t, err)
	verbs, _, _ := unstructured.NestedStringSlice(rules[0].(map[string]any), "verbs")
	must.Equal(t, "result", verbs, words)
}

// TestCommandIsBounded: what does not fit into a status is no command.
func TestCommandIsBounded(t *testing.T) {
	rule := MissingRule{"", rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{strings.Repeat("a", maxCommand)}}}
	if command, ok := Command("my-installer", ServiceAccount("ns", "installer"), []MissingRule{rule}); ok {
		t.Errorf("%d bytes fit", len(command))
	}
}
