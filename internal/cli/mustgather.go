package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"
)

// logLines is how many lines of each log are gathered at most.
const logLines = 20000

func newMustGatherCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var file, namespace string
	var withLogs bool
	cmd := &cobra.Command{
		Use:   "must-gather",
		Short: "Write one archive of all that helps to find out what is wrong",
		Long: `Write one archive, a tar file packed with gzip, of what a helper needs: the objects of both APIs, CustomResourceDefinitions,
webhooks, APIServices and admission policies; what fairlead doctor finds; and of the namespaces of operators, catalogs and the manager the Deployments, pods, Services, Events and
the ends of logs.

Of Secrets and ConfigMaps it has the names and sizes of values, and no value. Elsewhere what looks like a credential is replaced: read the archive
before you give it away, because a log can say anything. What you may not read is noted in README.txt of the archive; where you may not list the
objects of all namespaces, those of -n, or of the context of the kubeconfig, are gathered.`,
		Example: `  fairlead must-gather
  fairlead must-gather --file /tmp/for-support.tar.gz --logs=false`,
		Args: command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now().UTC()
			if file == "" {
				file = "must-gather-" + now.Format("20060102-150405") + ".tar.gz"
			}
			c, mine, err := k.Connect()
			if err != nil {
				return err
			}
			config, err := k.Config()
			if err != nil {
				return err
			}
			pods, err := kubernetes.NewForConfig(config)
			if err != nil {
				return fmt.Errorf("reach the cluster for logs: %w", err)
			}
			server := "unknown"
			if v, err := pods.Discovery().ServerVersion(); err == nil {
				server = v.GitVersion
			}
			g := ops.Gathering{Client: c, Namespace: namespace, Mine: mine, Now: now,
				About: fmt.Sprintf("Gathered %s by %s, of Kubernetes %s.", now.Format(time.RFC3339), built(), server)}
			with, err := examination(&k, namespace, checkLimit)
			if err != nil {
				return err
			}
			g.Doctor = func(ctx context.Context) *ops.Diagnosis { return ops.Examine(ctx, with) }
			if withLogs {
				g.Logs = logsOf(pods)
			}
			return writeArchive(cmd.Context(), s, g, file)
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	cmd.Flags().StringVar(&file, "file", "", "archive to write, which must not be there yet (default: must-gather-DATE-TIME.tar.gz)")
	cmd.Flags().StringVar(&namespace, "manager-namespace", manager.DefaultGlobalNamespace, "namespace of the manager")
	cmd.Flags().BoolVar(&withLogs, "logs", true, "gather the ends of logs")
	return cmd
}

// writeArchive gathers into a new file, of which nothing is left where that fails.
func writeArchive(ctx context.Context, s command.Streams, g ops.Gathering, file string) (err error) {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	gathered, err := g.MustGather(ctx, out)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(kubeconfig.Explain(err), os.Remove(file))
	}
	for _, note := range gathered.Notes {
		fmt.Fprintf(s.Err, "note: %s\n", note)
	}
	fmt.Fprintf(s.Out, "%s has %s\n", file, safetext.Count(gathered.Files, "file"))
	return nil
}

// logsOf reads the ends of logs of a cluster.
func logsOf(pods kubernetes.Interface) func(context.Context, client.ObjectKey, string, bool) (io.ReadCloser, error) {
	return func(ctx context.Context, pod client.ObjectKey, container string, previous bool) (io.ReadCloser, error) {
		options := &corev1.PodLogOptions{Container: container, Previous: previous, TailLines: new(int64(logLines))}
		return pods.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	}
}
