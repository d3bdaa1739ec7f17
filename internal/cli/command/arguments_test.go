package command

import (
	"fmt"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/spf13/cobra"
)

// TestArguments: a complaint names the argument, in the words of the usage line; those of opm stay as they are.
func TestArguments(t *testing.T) {
	for _, test := range []struct {
		root, use string
		args      cobra.PositionalArgs
		values    []string
		want      string
	}{
		{"fairlead", "install PACKAGE", cobra.ExactArgs(1), nil, "PACKAGE is missing: fairlead install PACKAGE"},
		{"fairlead", "install PACKAGE", cobra.ExactArgs(1), []string{"a", "b"}, `"b" is one argument too many: fairlead install PACKAGE`},
		{"fairlead", "diff OLD NEW", cobra.ExactArgs(2), []string{"a"}, "NEW is missing: fairlead diff OLD NEW"},
		{"fairlead", "path REF FROM [TO]", cobra.RangeArgs(2, 3), []string{"a"}, "FROM is missing: fairlead path REF FROM [TO]"},
		{"fairlead", "path REF FROM [TO]", cobra.RangeArgs(2, 3), []string{"a", "b", "c", "d"}, `"d" is one argument too many: fairlead path REF FROM [TO]`},
		{"fairlead", "render REF...", cobra.MinimumNArgs(1), nil, "REF is missing: fairlead render REF..."},
		{"fairlead", "outdated", cobra.NoArgs, []string{"x"}, `"x": fairlead outdated takes no argument`},
		{"fairlead", "migrate SUBSCRIPTION | migrate --undo EXTENSION", cobra.MaximumNArgs(1), []string{"a", "b"}, `"b" is one argument too many: fairlead migrate SUBSCRIPTION`},
		{"fairlead", "verify REF --signature-policy FILE", cobra.ExactArgs(1), nil, "REF is missing: fairlead verify REF"},
		{"opm", "validate <directory>", cobra.ExactArgs(1), nil, "accepts 1 arg(s), received 0"},
	} {
		root, below := &cobra.Command{Use: test.root}, &cobra.Command{Use: test.use, Args: Usage(test.args), Run: func(*cobra.Command, []string) {}}
		root.AddCommand(below)
		err := below.Args(below, test.values)
		if Code(err) != ExitUsage {
			t.Errorf("%s %q: %v", test.use, test.values, err)
			continue
		}
		must.Equal(t, test.use, err.Error(), test.want)
	}
	nothing := func(*cobra.Command, []string) {}
	group := Group("catalog", "write catalogs", &cobra.Command{Use: "render", Run: nothing})
	(&cobra.Command{Use: "fairlead"}).AddCommand(group, Group("bundle", "write bundles", &cobra.Command{Use: "push", Run: nothing}))
	for word, want := range map[string]string{"rendr": "; did you mean render?", "push": "; did you mean fairlead bundle push?", "nothing-like-it": ""} {
		if err := group.Args(group, []string{word}); err == nil || err.Error() != fmt.Sprintf("unknown command %q for \"fairlead catalog\"%s", word, want) {
			t.Errorf("%s: %v", word, err)
		}
	}
}
