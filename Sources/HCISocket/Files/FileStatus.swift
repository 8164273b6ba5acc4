import CLinux
import Glibc

extension stat {
    /// The time at which the file was last written, in seconds since 1970.
    package var written: Int { st_mtim.tv_sec }
}
