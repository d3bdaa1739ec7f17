package indexignore

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	"github.com/google/go-cmp/cmp"
)

// tree is what the patterns of both tests below are held against.
var tree = []string{
	"README.md", "a", "b.yaml", "c d.txt", "trailing ", "#hash", "!bang", "star*", "x[1]", "x1", "xy", "x-", "x]", "x^", `back\slash`,
	"p/a", "p/b.yaml", "p/index.json", "p/objects/csv.yaml", "p/objects/deep/csv.yaml", "p/q/a", "p/q/r/a", "p/q/r/z.md",
	"objects/csv.yaml", "objects/a/b/c", "q/p/a", "q/index.yaml", "Upper/File.MD", "_under/9", "docs/.hidden", ".dot",
}

// TestIgnoredAsGit takes rules from the manual of gitignore, line by line, and
// asks git as well where it is installed.
func TestIgnoredAsGit(t *testing.T) {
	tests := map[string]struct {
		rules   map[string]string // directory to text
		ignored []string
		notGit  bool // git looks at directories by themselves
	}{
		"a blank line separates":                                     {map[string]string{".": "\n\na\n\n"}, []string{"a", "objects/a/b/c", "p/a", "p/q/a", "p/q/r/a", "q/p/a"}, false},
		"a # begins a comment":                                       {map[string]string{".": "#hash"}, nil, false},
		"a backslash takes the # literally":                          {map[string]string{".": `\#hash`}, []string{"#hash"}, false},
		"spaces at the end mean nothing":                             {map[string]string{".": "xy   "}, []string{"xy"}, false},
		"but after a backslash one does":                             {map[string]string{".": `trailing\ `}, []string{"trailing "}, false},
		"a space inside is a space":                                  {map[string]string{".": "c d.txt"}, []string{"c d.txt"}, false},
		"a ! takes back in":                                          {map[string]string{".": "*.yaml\n!b.yaml"}, []string{"objects/csv.yaml", "p/objects/csv.yaml", "p/objects/deep/csv.yaml", "q/index.yaml"}, false},
		"a backslash takes the ! literally":                          {map[string]string{".": `\!bang`}, []string{"!bang"}, false},
		"a slash in the middle anchors":                              {map[string]string{".": "p/a"}, []string{"p/a"}, false},
		"a slash at the beginning anchors":                           {map[string]string{".": "/a"}, []string{"a"}, false},
		"a slash at the end means directories":                       {map[string]string{".": "objects/"}, []string{"objects/a/b/c", "objects/csv.yaml", "p/objects/csv.yaml", "p/objects/deep/csv.yaml"}, false},
		"which a file of that name is not":                           {map[string]string{".": "a/"}, []string{"objects/a/b/c"}, false},
		"an asterisk does not match a slash":                         {map[string]string{".": "p/*.yaml"}, []string{"p/b.yaml"}, false},
		"a question mark is one character":                           {map[string]string{".": "x?"}, []string{"x-", "x1", "x]", "x^", "xy"}, false},
		"a question mark is not a slash":                             {map[string]string{".": "/p?a"}, nil, false},
		"a range":                                                    {map[string]string{".": "x[0-9]"}, []string{"x1"}, false},
		"a set":                                                      {map[string]string{".": "x[1y]"}, []string{"x1", "xy"}, false},
		"not in a set":                                               {map[string]string{".": "x[!1y]"}, []string{"x-", "x]", "x^"}, false},
		"not in a set, the other way":                                {map[string]string{".": "x[^1y]"}, []string{"x-", "x]", "x^"}, false},
		"a bracket that comes first is in the set":                   {map[string]string{".": "x[]-]"}, []string{"x-", "x]"}, false},
		"a dash that comes last is in the set":                       {map[string]string{".": "x[1-]"}, []string{"x-", "x1"}, false},
		"a backslash in a set":                                       {map[string]string{".": `x[\]\^]`}, []string{"x]", "x^"}, false},
		"a class":                                                    {map[string]string{".": "x[[:alnum:]]"}, []string{"x1", "xy"}, false},
		"a class and more":                                           {map[string]string{".": "[[:upper:]_]*"}, []string{"README.md", "Upper/File.MD", "_under/9"}, false},
		"not in a class":                                             {map[string]string{".": "x[![:punct:]]"}, []string{"x1", "xy"}, false},
		"two asterisks in front":                                     {map[string]string{".": "**/objects"}, []string{"objects/a/b/c", "objects/csv.yaml", "p/objects/csv.yaml", "p/objects/deep/csv.yaml"}, false},
		"two asterisks in front of a path":                           {map[string]string{".": "**/p/a"}, []string{"p/a", "q/p/a"}, false},
		"two asterisks at the end":                                   {map[string]string{".": "p/q/**"}, []string{"p/q/a", "p/q/r/a", "p/q/r/z.md"}, false},
		"two asterisks in the middle":                                {map[string]string{".": "p/**/a"}, []string{"p/a", "p/q/a", "p/q/r/a"}, false},
		"two asterisks beside others are one":                        {map[string]string{".": "p/**b.yaml\n/obj**/csv.yaml"}, []string{"objects/csv.yaml", "p/b.yaml"}, false},
		"files of a directory that is left out can be taken back in": {map[string]string{".": "p/\n!*.md"}, []string{"p/a", "p/b.yaml", "p/index.json", "p/objects/csv.yaml", "p/objects/deep/csv.yaml", "p/q/a", "p/q/r/a", "q/p/a"}, true},
		"and by the name of a directory, all that is in it":          {map[string]string{".": "*a*\n!objects/"}, []string{"!bang", "#hash", "a", "b.yaml", `back\slash`, "p/a", "p/b.yaml", "p/q/a", "p/q/r/a", "q/index.yaml", "q/p/a", "star*", "trailing "}, true},
		"the last of several decides":                                {map[string]string{".": "!*.md\n*.md\n!README.md"}, []string{"p/q/r/z.md"}, false},
		"a file further down overrides":                              {map[string]string{".": "*.yaml", "p": "!*.yaml", "p/objects": "csv.yaml"}, []string{"b.yaml", "objects/csv.yaml", "p/objects/csv.yaml", "p/objects/deep/csv.yaml", "q/index.yaml"}, false},
		"a file further down is anchored there":                      {map[string]string{"p": "/a\n/objects/*.yaml"}, []string{"p/a", "p/objects/csv.yaml"}, false},
		"a backslash before a star":                                  {map[string]string{".": `star\*`}, []string{"star*"}, false},
		"a backslash before a backslash":                             {map[string]string{".": `back\\slash`}, []string{`back\slash`}, false},
		"a backslash before a letter":                                {map[string]string{".": `\x\y`}, []string{"xy"}, false},
		"brackets without their end":                                 {map[string]string{".": "x[1\nxy"}, []string{"xy"}, false},
		"a class that does not exist":                                {map[string]string{".": "x[[:what:]]\nxy"}, []string{"xy"}, false},
		"names are not folded":                                       {map[string]string{".": "*.md"}, []string{"README.md", "p/q/r/z.md"}, false},
		"a dot is no exception":                                      {map[string]string{".": ".*"}, []string{".dot", "docs/.hidden"}, false},
		"a byte order mark":                                          {map[string]string{".": "\ufeffxy\n"}, []string{"xy"}, false},
		"line breaks of Windows":                                     {map[string]string{".": "xy\r\nx1\r\n"}, []string{"x1", "xy"}, false},
		"no line break at the end":                                   {map[string]string{".": "x1\nxy"}, []string{"x1", "xy"}, false},
		"slashes twice match nothing":                                {map[string]string{".": "p//a"}, nil, false},
		"a slash alone matches nothing":                              {map[string]string{".": "/\n!\n"}, nil, false},
		"a directory by its path":                                    {map[string]string{".": "/p/q"}, []string{"p/q/a", "p/q/r/a", "p/q/r/z.md"}, false},
		"a backslash at the end matches nothing":                     {map[string]string{".": "xy\\"}, nil, false},
		"everything but what is meant, as catalogs say":              {map[string]string{".": "**/*\n!*.json\n!*.yaml\n**/objects/*.json\n**/objects/*.yaml"}, []string{"!bang", "#hash", ".dot", "README.md", "Upper/File.MD", "_under/9", "a", `back\slash`, "c d.txt", "docs/.hidden", "objects/a/b/c", "objects/csv.yaml", "p/a", "p/objects/csv.yaml", "p/q/a", "p/q/r/a", "p/q/r/z.md", "q/p/a", "star*", "trailing ", "x-", "x1", "x[1]", "x]", "x^", "xy"}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ignoredOf(test.rules)
			must.Equal(t, "ignored", got, test.ignored)
			if test.notGit {
				return
			}
			if byGit, ok := gitIgnores(t, test.rules); ok {
				must.Equal(t, "result", got, byGit)
			}
		})
	}
}

func ignoredOf(texts map[string]string) (ignored []string) {
	var outer, inner Rules
	for _, dir := range []string{".", "p", "p/q", "p/objects"} {
		if dir == "." {
			outer, _ = outer.With(dir, texts[dir])
			inner = outer
		} else {
			inner, _ = inner.With(dir, texts[dir])
		}
	}
	for _, file := range tree {
		if inner.Ignored(file) {
			ignored = append(ignored, file)
		}
	}
	slices.Sort(ignored)
	return ignored
}

// gitIgnores asks git which files of the tree the rules leave out; ok is false
// where there is no git.
func gitIgnores(t *testing.T, texts map[string]string) (ignored []string, ok bool) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		return nil, false
	}
	dir := plantTree(t)
	for sub, text := range texts {
		must.NoError(t, os.WriteFile(filepath.Join(dir, sub, ".gitignore"), []byte(text), 0o600))
	}
	return askGit(t, dir), true
}

// plantTree makes a repository with the files of the tree.
func plantTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range tree {
		name := filepath.Join(dir, filepath.FromSlash(file))
		must.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	git(t, dir, "", "init", "-q")
	return dir
}

func askGit(t *testing.T, dir string) (ignored []string) {
	t.Helper()
	out := git(t, dir, strings.Join(tree, "\x00"), "check-ignore", "--no-index", "--stdin", "-z")
	for name := range strings.SplitSeq(strings.Trim(out, "\x00"), "\x00") {
		if name != "" {
			ignored = append(ignored, name)
		}
	}
	slices.Sort(ignored)
	return ignored
}

// git runs a command of git without the configuration of whoever tests.
func git(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: nothing is ignored
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// TestIgnoredAgreesWithGit holds patterns made by chance against git. None of
// them takes files back in, as git does that for files of directories that are
// not left out only.
func TestIgnoredAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, so there is nothing to compare with")
	}
	pieces := []string{"a", "b", "p", "q", "r", "x", "/", "/", "/", "*", "/**/", "?", "[", "]", "!", "^", "-", "[a-z]", "[!a]", "[]x]", "[[:digit:]]", `\\`, ".yaml", ".md", "objects", "csv", " ", "deep", "y", "1"}
	random := rand.New(rand.NewPCG(1, 2))
	dir := plantTree(t)
	for i := range sweep.Of(50, 100, 400) {
		text := []string{"", "", "**/"}[random.IntN(3)]
		for range 1 + random.IntN(6) {
			text += pieces[random.IntN(len(pieces))]
		}
		pattern := strings.TrimLeft(text+[]string{"", "", "/**"}[random.IntN(3)], "! ")
		must.NoError(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(pattern+"\n"), 0o600))
		if diff := cmp.Diff(askGit(t, dir), ignoredOf(map[string]string{".": pattern})); diff != "" {
			t.Errorf("%d: pattern %q (-git +got):\n%s", i, pattern, diff)
		}
	}
}
