package cli

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
)

// Formats of the reference.
const (
	referenceMan      = "man"
	referenceMarkdown = "markdown"
)

func newReferenceCommand(s command.Streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "reference DIRECTORY",
		Short: "Write a page for each command: man pages, or Markdown",
		Long: `Write a page for each command into a directory, which is created where it is not there: man pages of section 1, or Markdown. The same version of
fairlead writes the same pages.`,
		Example: `  fairlead reference /usr/local/share/man/man1
  fairlead reference ./cli --format markdown`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, dir := cmd.Root(), args[0]
			if format != referenceMan && format != referenceMarkdown {
				return command.UsageError{Err: fmt.Errorf("--format %q: choose %s or %s", format, referenceMan, referenceMarkdown)}
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("write the reference: %w", err)
			}
			root.DisableAutoGenTag = true
			root.InitDefaultCompletionCmd()
			var err error
			if format == referenceMan {
				date := committed() // that of a page must not differ from one run to the next
				err = doc.GenManTree(root, &doc.GenManHeader{Section: "1", Manual: "Fairlead", Source: "fairlead " + built().Fairlead, Date: &date}, dir)
			} else {
				err = doc.GenMarkdownTree(root, dir)
			}
			if err != nil {
				return fmt.Errorf("write the reference to %s: %w", dir, err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				return fmt.Errorf("count the pages of the reference: %w", err)
			}
			fmt.Fprintf(s.Out, "%s has %s\n", dir, safetext.Count(len(entries), "page"))
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", referenceMan, "man or markdown")
	return cmd
}

// committed is when the source of the running binary was committed; 1970 where that is not known.
func committed() time.Time {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range build.Settings {
			if at, err := time.Parse(time.RFC3339, setting.Value); setting.Key == "vcs.time" && err == nil {
				return at
			}
		}
	}
	return time.Unix(0, 0).UTC()
}
