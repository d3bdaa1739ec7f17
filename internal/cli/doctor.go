package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"
)

// checkLimit is how long each check may take, where nothing else is said.
const checkLimit = 10 * time.Second

func newDoctorCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var format command.Output
	var namespace string
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine a cluster: what is wrong with its set-up, with which object, and what to do about it",
		Long: `Examine the connection, and the set-up of a cluster: whether a manager runs and has its rights, beside which others; its
CustomResourceDefinitions and admission policies; the namespace of its catalogs, and whether these can be read; webhooks, APIServices and their
certificates; and clocks. Below each check that fails is said with which object something is wrong, and what to do about it.

Nothing is written. What you may not read is a note, and does not make the examination fail. Where another lifecycle manager works on the cluster,
and Fairlead's does not, that is a note, too.

Exit code 0: nothing is wrong; there may be notes. 3: something is, or the cluster does not answer; with -o json or yaml, too. 1: no cluster could be
asked, because the kubeconfig cannot be read or names none. 2: wrong usage.`,
		Example: `  fairlead doctor
  fairlead doctor --manager-namespace fairlead -o json`,
		Args: command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			with, err := examination(&k, namespace, limit)
			if err != nil {
				return err
			}
			d := ops.Examine(cmd.Context(), with)
			if err := format.Write(s.Out, d, d.Write); err != nil {
				return err
			}
			if !d.Done() {
				return command.ExitError{Code: command.ExitNo}
			}
			return nil
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	format.Flag(cmd)
	cmd.Flags().StringVar(&namespace, "manager-namespace", manager.DefaultGlobalNamespace, "namespace of the manager")
	cmd.Flags().DurationVar(&limit, "check-timeout", checkLimit, "how long each check may take")
	return cmd
}

// examination prepares to examine the cluster that the flags name.
func examination(k *kubeconfig.Flags, namespace string, limit time.Duration) (ops.Examination, error) {
	config, err := k.Config()
	if err != nil {
		return ops.Examination{}, err
	}
	c, own, err := k.Connect()
	if err != nil {
		return ops.Examination{}, err
	}
	return ops.Examination{Client: c, Namespace: namespace, Own: own, Now: time.Now, Limit: limit, Server: serverOf(config)}, nil
}

// serverOf asks an API server for its version. The clock is that of its answer.
func serverOf(config *rest.Config) func(context.Context) (ops.ServerAnswer, error) {
	return func(ctx context.Context) (ops.ServerAnswer, error) {
		answer := ops.ServerAnswer{Address: config.Host}
		watched := rest.CopyConfig(config)
		var date string
		watched.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(request)
				if response != nil {
					date = cmp.Or(response.Header.Get("Date"), date)
				}
				return response, err
			})
		})
		clients, err := kubernetes.NewForConfig(watched)
		if err != nil {
			return answer, fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
		}
		text, err := clients.Discovery().RESTClient().Get().AbsPath("/version").DoRaw(ctx)
		answer.Date, _ = http.ParseTime(date) // zero where there is none
		if err != nil {
			return answer, kubeconfig.Explain(err)
		}
		var info version.Info
		if err := json.Unmarshal(text, &info); err != nil {
			return answer, fmt.Errorf("read the version of the cluster at %s: %w", config.Host, err)
		}
		answer.Version = info.GitVersion
		return answer, nil
	}
}

// roundTripper is a function that sends requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
