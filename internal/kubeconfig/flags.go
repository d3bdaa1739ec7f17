package kubeconfig

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// The flags that most users need; help describes them with those of the command, and the others apart.
const (
	fileFlag      = "kubeconfig"
	contextFlag   = "context"
	namespaceFlag = "namespace"
)

// tokenFlag holds a secret.
const tokenFlag = "token"

// connectionAnnotation marks the flags that choose a cluster and a user of it.
const connectionAnnotation = "fairlead_connection"

// texts are what help says about the flags that most users need.
var texts = map[string]string{
	fileFlag:      "kubeconfig of the cluster (default: $KUBECONFIG, then ~/.kube/config)",
	contextFlag:   "context of the kubeconfig to use",
	namespaceFlag: "namespace (default: that of the kubeconfig's context)",
}

// AddCluster adds the flags that choose a cluster, and the user to be there: those of kubectl.
func (f *Flags) AddCluster(flags *pflag.FlagSet) {
	f.add(flags, func(name string) bool { return name != namespaceFlag })
}

// AddNamespace adds the flag that chooses a namespace.
func (f *Flags) AddNamespace(flags *pflag.FlagSet) {
	f.add(flags, func(name string) bool { return name == namespaceFlag })
}

func (f *Flags) add(flags *pflag.FlagSet, wanted func(name string) bool) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.values().AddFlags(all)
	all.VisitAll(func(flag *pflag.Flag) {
		if !wanted(flag.Name) {
			return
		}
		if text := texts[flag.Name]; text != "" {
			flag.Usage = text
		}
		if flag.Name != namespaceFlag {
			flag.Annotations = map[string][]string{connectionAnnotation: nil}
		}
		flags.AddFlag(flag)
	})
}

// IsConnection reports whether a flag chooses a cluster or a user of it.
func IsConnection(flag *pflag.Flag) bool {
	_, is := flag.Annotations[connectionAnnotation]
	return is
}

// IsRare reports whether a flag is one of those that choose a cluster or a user, but not of those that most users need.
func IsRare(flag *pflag.Flag) bool { return IsConnection(flag) && texts[flag.Name] == "" }

// IsSecret reports whether the value of a flag must not be printed.
func IsSecret(flag *pflag.Flag) bool { return IsConnection(flag) && flag.Name == tokenFlag }

// Connection are the flags that were given to choose a cluster or a user, in the order of their names.
func Connection(flags *pflag.FlagSet) []*pflag.Flag {
	var given []*pflag.Flag
	flags.VisitAll(func(flag *pflag.Flag) {
		if IsConnection(flag) && flag.Changed {
			given = append(given, flag)
		}
	})
	slices.SortFunc(given, func(a, b *pflag.Flag) int { return strings.Compare(a.Name, b.Name) })
	return given
}
