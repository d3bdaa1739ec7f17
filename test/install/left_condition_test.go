package install

import ()
