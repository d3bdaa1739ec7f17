package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/platform"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/fairlead/internal/cli/command"
)

// exitFindings is the exit code of check when something was found. The other codes of commands are no use here: 2 is what plans of changes
// say everywhere, so wrong usage is 1.
const exitFindings = 2

// checking is what check is asked.
type checking struct {
	streams command.Streams
	cluster kubeconfig.Flags
	format  command.Output
	version string
	files   []string
	all     bool
}

func newCheckCommand(s command.Streams) *cobra.Command {
	c := checking{streams: s}
	cmd := &cobra.Command{
		Use:   "check --kube-version VERSION",
		Short: "Find what stands between installed operators and a version of Kubernetes",
		Long: `Find what stands between installed operators and a version of Kubernetes, before the cluster is upgraded: objects of their bundles and
APIs they declare that this version serves no more, versions of Kubernetes that they need, and versions of OpenShift that their authors exclude.

It checks the operators of all namespaces, of both APIs, or of one with -n; or, with -f, files and directories with manifests of bundles.
What an operator does with the API of Kubernetes while it runs cannot be seen here.

Exit code 0: nothing was found. 2: something was found. 1: it could not be checked.`,
		Example: `  fairlead check --kube-version 1.36
  fairlead check --kube-version 1.36 -f ./bundle/manifests -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return err })
	cmd.Flags().StringVar(&c.version, "kube-version", "", "version of Kubernetes to check for, such as 1.36 or 1.36.2 (required)")
	cmd.Flags().StringArrayVarP(&c.files, "filename", "f", nil, "file or directory with manifests to check in the place of a cluster; - for standard input")
	cmd.Flags().BoolVarP(&c.all, "all-namespaces", "A", false, "operators of all namespaces (default unless -n is given)")
	c.cluster.AddCluster(cmd.Flags())
	c.cluster.AddNamespace(cmd.Flags())
	c.format.Flag(cmd)
	return cmd
}

func (c *checking) run(cmd *cobra.Command) error {
	named := cmd.Flags().Changed("namespace")
	switch err := c.format.Check(); {
	case err != nil:
		return errors.New(err.Error()) // which makes no exit code of its own
	case c.version == "":
		return errors.New("name the version of Kubernetes to check for: --kube-version 1.36")
	case named && c.all:
		return errors.New("-n names one namespace, and -A asks for all: give one of them")
	case len(c.files) > 0 && (named || c.all):
		return errors.New("-f checks files, and -n and -A are about a cluster: give one of them")
	}
	operators, err := c.operators(cmd.Context(), named)
	if err != nil {
		return err
	}
	report, err := platform.Check(c.version, operators)
	if err != nil {
		return fmt.Errorf("--kube-version: %w", err)
	}
	if err := c.format.Write(c.streams.Out, report, report.Write); err != nil {
		return err
	}
	if len(report.Findings) > 0 {
		return command.ExitError{Code: exitFindings}
	}
	return nil
}

func (c *checking) operators(ctx context.Context, named bool) ([]platform.Operator, error) {
	if len(c.files) > 0 {
		var operators []platform.Operator
		for _, name := range c.files {
			if name == "-" {
				found, err := ops.Decode("standard input", c.streams.In)
				if err != nil {
					return nil, err
				}
				operators = append(operators, found...)
				continue
			}
			names, err := manifestsIn(name)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				file, err := os.Open(name)
				if err != nil {
					return nil, fmt.Errorf("read manifests: %w", err)
				}
				found, err := ops.Decode(name, file)
				file.Close()
				if err != nil {
					return nil, err
				}
				operators = append(operators, found...)
			}
		}
		return operators, nil
	}
	cluster, namespace, err := c.cluster.Connect()
	if err != nil {
		return nil, err
	}
	if !named {
		namespace = ""
	}
	operators, notes, err := ops.Read(ctx, cluster, namespace)
	for _, note := range notes {
		fmt.Fprintf(c.streams.Err, "note: %s\n", note)
	}
	if apierrors.IsForbidden(err) && namespace == "" {
		err = fmt.Errorf("%w; name a namespace that you may read, with -n", err)
	}
	return operators, kubeconfig.Explain(err)
}

// manifestsIn is a file itself, or the manifests of a directory and of those in it.
func manifestsIn(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	names, err := manifestsUnder(name)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("read manifests in %s: it has no files that end in .json, .yaml or .yml", name)
	}
	return names, err
}

func manifestsUnder(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	var names []string
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") {
			continue // not meant to be checked, such as .git
		}
		if entry.IsDir() { // links to directories are not followed: they may lead round in circles
			below, err := manifestsUnder(name)
			if err != nil {
				return nil, err
			}
			names = append(names, below...)
			continue
		}
		switch filepath.Ext(name) {
		case ".json", ".yaml", ".yml":
			names = append(names, name)
		}
	}
	return names, nil
}
