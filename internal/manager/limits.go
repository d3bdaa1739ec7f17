package manager

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
)

// What one catalog may cost the process that all share, unless CatalogLimits says otherwise. The largest public catalog has 147 MB of YAML,
// or 200 MB of JSON, and takes less than 120 MB of memory by the measure of catalog.Limits; its largest document has 1.2 MB.
const (
	DefaultCatalogBytes  = 1 << 30
	DefaultCatalogMemory = 256 << 20
	catalogDocumentBytes = 8 << 20
)

// Names of the flags that raise the limits, which errors repeat.
const (
	CatalogBytesFlag  = "catalog-max-bytes"
	CatalogMemoryFlag = "catalog-max-memory"
)

// CatalogLimits bound each catalog of either API that the manager reads. Zero fields are the defaults above.
type CatalogLimits struct {
	Bytes  int64 // of its files
	Memory int64 // that it takes, as catalog.Limits measures
}

// memoryFiles are where Linux says how much memory a container may have: control groups of version 2, and of version 1.
var memoryFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// heapPercent is how much of the memory of the container the garbage collector may let the program take.
const heapPercent = 85

// LimitMemory makes the garbage collector work harder when the memory of the container becomes scarce. The variable GOMEMLIMIT has
// precedence. It returns the limit, 0 where there is none.
func LimitMemory(log logr.Logger) int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	limit := containerMemory(memoryFiles) / 100 * heapPercent
	if limit > 0 {
		debug.SetMemoryLimit(limit)
		log.Info("garbage is collected more often near the memory limit of the container", "bytes", limit)
	}
	return limit
}

// containerMemory is the limit that the first readable file states; 0 for none.
func containerMemory(files []string) int64 {
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil || n <= 0 || n >= 1<<50 { // "max", or the number that stands for it
			return 0
		}
		return n
	}
	return 0
}
