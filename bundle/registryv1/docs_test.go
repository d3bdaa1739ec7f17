package registryv1

import (
	"os"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// TestDocumentedConfigurations renders with every configuration that the documentation shows.
func TestDocumentedConfigurations(t *testing.T) {
	page := must.Value(os.ReadFile("../../docs/bundle-configuration.md"))(t)
	shown := 0
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var content struct {
			Inline any
			Spec   struct{ Config struct{ Inline any } }
		}
		if err := kyaml.Unmarshal([]byte(block), &content); err != nil {
			t.Fatalf("%v in\n%s", err, block)
		}
		config := content.Inline
		if config == nil {
			config = content.Spec.Config.Inline
		}
		if config == nil {
			continue
		}
		shown++
		if _, err := Render(loadTest(t, nil), Options{Namespace: "operators", Config: []byte(asJSON(t, config))}); err != nil {
			t.Errorf("%v for\n%s", err, block)
		}
	}
	if shown != 3 {
		t.Errorf("%d configurations are shown, want 3", shown)
	}
}
