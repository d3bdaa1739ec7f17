package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
)

func newTraceCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var format command.Output
	cmd := &cobra.Command{
		Use:   "trace KIND/NAME",
		Short: "Follow an object to the operator, the bundle, the catalog and the decision that brought it",
		Long: `Follow an object of the cluster to what brought it: its owners, the ClusterServiceVersion or the revision of a ClusterExtension that it is
a part of, what asked for that, the bundle with its digest, the catalog with the digest of its content, and the decision.

KIND is written as for kubectl: deployment, deploy, crd, deployments.apps. Of a custom resource its definition is followed.

Exit code 3: no operator brought the object, or you may not see whether one did.`,
		Example: `  fairlead trace deployment/etcd-operator -n operators
  fairlead trace crd/etcdclusters.etcd.database.coreos.com
  fairlead trace pod/etcd-operator-5d8f7c9b6-x2k4p -n operators -o json`,
		Args: command.Usage(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			kind, name, ok := strings.Cut(strings.Join(args, "/"), "/")
			if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
				return command.UsageError{Err: fmt.Errorf("trace %q: name an object as KIND/NAME, such as deployment/etcd-operator", strings.Join(args, " "))}
			}
			c, namespace, err := k.Connect()
			if err != nil {
				return err
			}
			config, err := k.Config()
			if err != nil {
				return err
			}
			known, err := discovery.NewDiscoveryClientForConfig(config)
			if err != nil {
				return fmt.Errorf("find out which kinds the cluster has: %w", err)
			}
			mapping, err := mappingOf(restmapper.NewShortcutExpander(c.RESTMapper(), known, nil), kind)
			if err != nil {
				return kubeconfig.Explain(err)
			}
			key := client.ObjectKey{Name: name}
			if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
				key.Namespace = namespace
			}
			trace, err := ops.TraceObject(cmd.Context(), c, mapping.GroupVersionKind, key)
			if err != nil {
				return kubeconfig.Explain(err)
			}
			if err := format.Write(s.Out, trace, func(w io.Writer) error { return trace.Write(w) }); err != nil {
				return err
			}
			if !trace.Managed {
				return command.ExitError{Code: command.ExitNo}
			}
			return nil
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	format.Flag(cmd)
	return cmd
}

// mappingOf finds the kind that a user writes, with or without version and group, in any case, as a singular, plural or short name.
func mappingOf(mapper meta.RESTMapper, text string) (*meta.RESTMapping, error) {
	versioned, resource := schema.ParseResourceArg(strings.ToLower(text))
	if versioned != nil {
		if kind, err := mapper.KindFor(*versioned); err == nil {
			return mapper.RESTMapping(kind.GroupKind(), kind.Version)
		}
	}
	kind, err := mapper.KindFor(resource.WithVersion(""))
	var unknown *meta.NoResourceMatchError
	switch {
	case errors.As(err, &unknown):
		return nil, fmt.Errorf("trace %s: the cluster has no such kind; kubectl api-resources lists those that it has", text)
	case err != nil:
		return nil, fmt.Errorf("find kind %s: %w", text, err)
	}
	return mapper.RESTMapping(kind.GroupKind(), kind.Version)
}
