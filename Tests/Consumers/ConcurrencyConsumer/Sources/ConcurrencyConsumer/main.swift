#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(WinSDK)
  import CRT
#endif

let steps = await Task.detached { await runSteps() }.value
for step in steps { print(step.holds ? "ok  " : "FAIL", step.claim) }
exit(steps.allSatisfy(\.holds) ? 0 : 1)
