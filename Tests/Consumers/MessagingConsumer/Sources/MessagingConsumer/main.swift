import Foundation

exit(await Task.detached { await consume() }.value)
