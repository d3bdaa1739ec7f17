package signature

import "github.com/spf13/pflag"

// Flags are those of programs that verify images.
type Flags struct {
	policy, containers string
	set                *pflag.FlagSet
}

const containersFlag = "containers-policy"

// Add adds the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	f.set = flags
	flags.StringVar(&f.policy, "signature-policy", "", "file with the policy of signatures that images must satisfy; without one they need none")
	flags.StringVar(&f.containers, containersFlag, ContainersDefault, "policy.json of container tools that images must satisfy; the default one only where it exists; empty for none")
}

// Config is what the flags ask for. A policy.json that was named must exist.
func (f *Flags) Config() Config {
	return Config{Policy: f.policy, Containers: f.containers, ContainersOptional: !f.set.Changed(containersFlag)}
}
