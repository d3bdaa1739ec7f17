package manager

import "testing"

// TestTheVariableNamesTheGlobalNamespace, whatever the flag says.
func TestTheVariableNamesTheGlobalNamespace(t *testing.T) {
	for variable, want := range map[string]string{"": "of-the-flag", "of-the-variable": "of-the-variable"} {
		t.Setenv(globalNamespaceVariable, variable)
		if got := globalNamespace("of-the-flag"); got != want {
			t.Errorf("with the variable %q it is %s, want %s", variable, got, want)
		}
	}
}
