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
    // For the benchmarks, which compare SQLite alone with VestaSQLite.
    .library(name: "CVestaSQLite", targets: ["CVestaSQLite"]),
  ],
  dependencies: [
    .package(path: "../Core"),
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
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaFiles", package: "Core"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaCore", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "StoreCrashWorker",
      dependencies: [
        "VestaSQLite", .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    // Records what SQLite does to files, for the tests that cut the power.
    .target(name: "CVestaStoreTrace", dependencies: ["CVestaSQLite"], path: "Tests/CVestaStoreTrace"),
    .testTarget(
      name: "VestaSQLiteTests",
      dependencies: [
        "VestaSQLite",
        "StoreCrashWorker",
        "CVestaStoreFiles",
        "CVestaStoreTrace",
        .product(name: "VestaConcurrency", package: "Core"),
        "CVestaSQLite",
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropContracts", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaStoreInteropCrashTesting", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
