import Foundation

exit(await Task.detached { await Chat.run() }.value)
