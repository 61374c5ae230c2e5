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
    .library(name: "CVestaSQLite", targets: ["CVestaSQLite"]),
    // For tests that kill a process, here and of what stands on the store.
    .library(name: "VestaCrashTesting", targets: ["VestaCrashTesting"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/ContractInterop"),
    .package(path: "../../Interop/ListenerInterop"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .systemLibrary(
      name: "CVestaSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(name: "CVestaStoreFiles", dependencies: ["CVestaSQLite"]),
    .target(
      name: "VestaSQLite",
      dependencies: [
        "CVestaSQLite",
        "CVestaStoreFiles",
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "StoreCrashWorker",
      dependencies: ["VestaSQLite", .product(name: "VestaStoreInterop", package: "StoreInterop")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaCrashTesting",
      dependencies: [.product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaSQLiteTests",
      dependencies: [
        "VestaCrashTesting",
        "VestaSQLite",
        "StoreCrashWorker",
        "CVestaStoreFiles",
        .product(name: "VestaListenerInterop", package: "ListenerInterop"),
        "CVestaSQLite",
        .product(name: "VestaContractInterop", package: "ContractInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropContracts", package: "StoreInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
