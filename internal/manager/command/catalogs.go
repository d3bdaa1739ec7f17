package command

import (
	"fairlead.dev/fairlead/internal/manager"

	"github.com/spf13/pflag"
)

// addCatalogLimits adds the flags about what one catalog may cost.
func addCatalogLimits(flags *pflag.FlagSet, l *manager.CatalogLimits) {
	flags.Int64Var(&l.Bytes, manager.CatalogBytesFlag, manager.DefaultCatalogBytes, "how many bytes the files of one catalog may have, of CatalogSources and ClusterCatalogs; a larger one is refused")
	flags.Int64Var(&l.Memory, manager.CatalogMemoryFlag, manager.DefaultCatalogMemory,
		"how much memory one catalog may take, in bytes; one that takes more is refused. The memory limit of the container should be at least three times as much, and 256 MiB more")
}
