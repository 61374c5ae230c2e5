// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "SQLite",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaSQLite", targets: ["VestaSQLite"]),
    // For the benchmarks, which measure SQLite alone beside VestaSQLite.
    .library(name: "CSQLite", targets: ["CSQLite"]),
    // For tests that kill a process, here and of what stands on the store.
    .library(name: "CrashTesting", targets: ["CrashTesting"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/ContractInterop"),
    .package(path: "../../Interop/ListenerInterop"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(name: "CStoreFiles", dependencies: ["CSQLite"]),
    .target(
      name: "VestaSQLite",
      dependencies: [
        "CSQLite",
        "CStoreFiles",
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        .product(name: "StoreInterop", package: "StoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "StoreCrashWorker",
      dependencies: ["VestaSQLite", .product(name: "StoreInterop", package: "StoreInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "CrashTesting",
      dependencies: [.product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaSQLiteTests",
      dependencies: [
        "CrashTesting",
        "VestaSQLite",
        "StoreCrashWorker",
        .product(name: "ListenerInterop", package: "ListenerInterop"),
        "CSQLite",
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "StoreInterop", package: "StoreInterop"),
        .product(name: "StoreInteropContracts", package: "StoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
