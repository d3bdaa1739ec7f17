package manager

import (
	"github.com/spf13/pflag"
)

// addCatalogLimits adds the flags about what one catalog may cost.
func addCatalogLimits(flags *pflag.FlagSet, l *CatalogLimits) {
	flags.Int64Var(&l.Bytes, CatalogBytesFlag, DefaultCatalogBytes, "how many bytes the files of one catalog may have, of CatalogSources and ClusterCatalogs; a larger one is refused")
	flags.Int64Var(&l.Memory, CatalogMemoryFlag, DefaultCatalogMemory,
		"how much memory one catalog may take, in bytes; one that takes more is refused. The memory limit of the container should be at least three times as much, and 256 MiB more")
}
